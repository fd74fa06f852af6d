"""llama_tokenize of a built libllama, by ctypes."""

import ctypes
import sys


class Parameters(ctypes.Structure):
    """llama_model_params; larger than the library's, which only `vocab_only` is set in."""

    _fields_ = [("before", ctypes.c_uint8 * 72), ("vocab_only", ctypes.c_bool), ("after", ctypes.c_uint8 * 7)]


class Library:
    def __init__(self, folder):
        for pattern in ["libggml-base.so", "libggml*.so", "libllama.*so"]:
            for path in sorted(folder.glob(pattern)):
                if "cpu" not in path.name:
                    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self.call = library
        pointer = ctypes.c_void_p
        log_type = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, pointer)
        self.log = log_type(lambda level, text, data: None)
        library.llama_log_set(self.log, None)
        library.llama_model_default_params.restype = Parameters
        library.llama_model_load_from_file.restype = pointer
        library.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Parameters]
        library.llama_model_get_vocab.restype = pointer
        library.llama_model_get_vocab.argtypes = [pointer]
        library.llama_model_free.argtypes = [pointer]
        library.llama_tokenize.argtypes = [
            pointer, ctypes.c_char_p, ctypes.c_int32, pointer, ctypes.c_int32, ctypes.c_bool, ctypes.c_bool,
        ]

    def load(self, path):
        """The model of a file without its weights, or None."""
        parameters = self.call.llama_model_default_params()
        parameters.vocab_only = True
        model = self.call.llama_model_load_from_file(str(path).encode(), parameters)
        return Model(self.call, model) if model else None


class Model:
    def __init__(self, call, model):
        self.call, self.model = call, model
        self.vocabulary = call.llama_model_get_vocab(model)

    def ids(self, text, add_special, parse_special):
        data = text.encode()
        size = len(data) * 4 + 16
        room = (ctypes.c_int32 * size)()
        count = self.call.llama_tokenize(self.vocabulary, data, len(data), room, size, add_special, parse_special)
        if count < 0:
            sys.exit(f"llama_tokenize needs {-count} ids for {len(data)} bytes")
        return list(room[:count])

    def free(self):
        self.call.llama_model_free(self.model)
