// Whether this process uses the C library glibc. It does not on Alpine, which has musl.

export const usesGlibc =
  process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime !== undefined
