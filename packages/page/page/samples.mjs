// Sample texts.

export const SAMPLES = {
  mixed: `Tokens are pieces of text: common words whole, rare ones in parts.
Naïve cafés, Straßenbahnhaltestellen, 1,234,567.89 – and 👩‍🚀🚀 in bytes.
    indented();\tand a tab
海へ行く列車。 Поезд к морю. รถไฟไปทะเล
<|endoftext|> is a special token, &amp; <b>this</b> is not.`,
  code: `export function median(values) {
    const sorted = [...values].sort((a, b) => a - b)
    const half = sorted.length >> 1
    // An even count has two in the middle.
    return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
`,
  prose: `In the morning the harbour was quiet. A few gulls stood on the wall and looked at the water as if it owed them something.
"It will be warm," said the old woman, and she was right; by noon the stones were too hot to sit on.
`,
  emoji: `👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 ☕️ 𝒯𝑒𝓍𝓉 ｆｕｌｌｗｉｄｔｈ z͎̫a̳l͙g̪o ﷽\n`,
  data: `{"id": 4711, "tags": ["a", "b"], "price": 12.50, "note": null}
2031-05-17T08:30:00Z;0xDEADBEEF;3.14159265358979
`,
}
