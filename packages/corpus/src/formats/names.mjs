// The names of the formats, by what their files contain. Without imports, because commands read
// it when they start.

/** Files of numbers, which have a type. */
export const NUMBER_FORMATS = ['megatron', 'npy', 'bin', 'llmc', 'mds']

/** Files with a row for each document or packed row. Their ids have no type to choose. */
export const ROW_FORMATS = ['jsonl', 'parquet']

export const FORMATS = [...NUMBER_FORMATS, ...ROW_FORMATS]
