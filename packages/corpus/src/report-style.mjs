// The style of both reports: light and dark, and readable on a phone.

export const STYLE = `
:root { color-scheme: light dark; --ground: #fbfbfa; --ink: #1d1f23; --soft: #5c626b; --line: #dcdfe3; --bar: #bcd5f2; --card: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15171a; --ink: #e8eaed; --soft: #a3abb5; --line: #33383f; --bar: #2b4f7a; --card: #1d2024 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; margin: 0 0 1rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
.note { border-left: 4px solid #d98b00; padding-left: .75rem }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .75rem; margin: 0 }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .75rem }
dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; overflow-wrap: anywhere }
.cards dd { font-size: 1.2rem; font-variant-numeric: tabular-nums }
.facts dt { margin-top: .5rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums }
thead th { color: var(--soft); font-weight: 500; white-space: nowrap }
th:first-child { text-align: left; font-weight: 500; overflow-wrap: anywhere; min-width: 8rem }
.bar { display: block; min-width: 6rem; padding: 0 .3rem; background: linear-gradient(to left, var(--bar) var(--part), transparent var(--part)) }
details li { overflow-wrap: anywhere }
.pieces { font: .9rem/1.9 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; margin: .2rem 0 .8rem }
.pieces span { border-radius: .2rem; padding: .1rem 0; background: var(--bar) }
.pieces span:nth-child(even) { background: var(--line) }
.curve-frame { overflow-x: auto }
.curve { width: 100%; min-width: 32rem; max-width: 44rem; height: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
.curve text { fill: var(--soft); font: 12px system-ui, sans-serif }
.curve polyline { fill: none; stroke: #3b82d8; stroke-width: 2 }
.curve circle { fill: #3b82d8 }
.curve .other { fill: #d98b00 }
.curve line { stroke: var(--line) }
.tokens { columns: 9rem auto; padding: 0; list-style: none; font: .85rem/1.6 ui-monospace, monospace }
.tokens li { overflow-wrap: anywhere }
td:has(code) { text-align: left }
td code, th code { white-space: pre-wrap; overflow-wrap: anywhere }
`
