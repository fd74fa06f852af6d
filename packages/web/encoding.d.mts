/** The packed rank file of an encoding, compressed: the option `data` of Tokenizer.fromEncoding. */
declare const data: Uint8Array
export default data
