/** The one stylesheet of the shop's pages. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f5f2, #15171a);
  --card: light-dark(#ffffff, #1d2024);
  --line: light-dark(#e3e0d8, #31363c);
  --text: light-dark(#22252a, #e8eaed);
  --quiet: light-dark(#5c6068, #a3a9b2);
  --link: light-dark(#0b5c8a, #7cc4ef);
  --pending: light-dark(#7a4b00, #ffd48a);   --pending-back: light-dark(#fff1d6, #3b2c10);
  --processing: light-dark(#0b4f8a, #a5d3ff); --processing-back: light-dark(#e0efff, #12304a);
  --shipped: light-dark(#1b5e2b, #a3e3b1);    --shipped-back: light-dark(#e0f4e4, #143420);
  --cancelled: light-dark(#6b3036, #f0b3b9);  --cancelled-back: light-dark(#fbe6e8, #40191e);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 66rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; padding-block: 1.25rem .5rem; }
header a { font-size: 1.25rem; font-weight: 650; color: inherit; text-decoration: none; }
header p, footer p { margin: 0; color: var(--quiet); }
footer { padding-block: 1rem 2rem; font-size: .875rem; }
a { color: var(--link); }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .25rem .5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0 .75rem; }
h2 { font-size: 1.125rem; margin: 0 0 .5rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; margin-bottom: 1rem; }
/* The margin leaves room for focus outlines, which a scrolling box would cut off. */
.scroll { overflow-x: auto; margin: 0 -.25rem; padding: 0 .25rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody:last-child tr:last-child > *, tfoot > tr > * { border-bottom: 0; }
thead th { font-size: .8125rem; font-weight: 600; color: var(--quiet); }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
.nowrap { white-space: nowrap; }
td.number:last-child, th.number:last-child { padding-right: 0; }
.quiet { color: var(--quiet); }
small.quiet { display: block; font-size: .8125rem; }
.status { display: inline-block; padding: 0 .6em; border-radius: 1em; font-size: .875rem; font-weight: 550; white-space: nowrap; }
.status[data-status=pending] { color: var(--pending); background: var(--pending-back); }
.status[data-status=processing] { color: var(--processing); background: var(--processing-back); }
.status[data-status=shipped] { color: var(--shipped); background: var(--shipped-back); }
.status[data-status=cancelled] { color: var(--cancelled); background: var(--cancelled-back); }
.low { color: var(--pending); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
ol.history time { color: var(--quiet); margin-right: .5rem; }
ol.history { list-style: none; margin: 0; padding: 0; }
ol.history li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
ol.history li:last-child { border-bottom: 0; }
code { font-size: .875em; overflow-wrap: anywhere; }
.changed { animation: changed 4s ease-out; }
@keyframes changed { from { background: var(--processing-back); } }
@media (prefers-reduced-motion: reduce) { .changed { animation: none; outline: 2px solid var(--link); } }
@media (max-width: 40rem) { .wide { display: none; } section { padding: .75rem; } table { font-size: .875rem; } th, td { padding-right: .5rem; } .status { font-size: .8125rem; } }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5c8a"/><path d="M8 12h13v7a5 5 0 0 1-5 5h-3a5 5 0 0 1-5-5zM21 13h2a3 3 0 0 1 0 6h-2" fill="none" stroke="#fff" stroke-width="2"/></svg>`
