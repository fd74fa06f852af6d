/** The contrast ratio of WCAG 2 between two colours, `rgb(…)`. */
export function contrast(...colours) {
  const [lighter, darker] = colours
    .map((colour) => {
      const [r, g, b] = colour
        .match(/[\d.]+/g)
        .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    })
    .sort((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}
