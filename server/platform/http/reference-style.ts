/** The reference page's look; a file of its own because its hash stands in the page's policy. */
export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e8eb); --soft: light-dark(#5b6470, #9aa3ad);
  --line: light-dark(#dfe3e8, #30363d); --paper: light-dark(#ffffff, #0f1216); --shade: light-dark(#f5f7f9, #171b21);
  --accent: light-dark(#0b5cad, #79b8ff); }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 18rem minmax(0, 1fr); color: var(--ink);
  background: var(--paper); font: 15px/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.25rem; border-right: 1px solid var(--line);
  background: var(--shade); font-size: 14px; }
nav p { margin: 1rem 0 0.25rem; } nav ul { margin: 0; padding: 0; list-style: none; } nav li { margin: 0.125rem 0; }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 68rem; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 2rem; margin: 0 0 0.5rem; } h2 { margin: 3.5rem 0 0.25rem; font-size: 1.5rem; }
h3 { margin: 0; font-size: 1.1rem; } h3 a { color: inherit; }
article { margin: 1.5rem 0; padding: 1.25rem; border: 1px solid var(--line); border-radius: 8px; scroll-margin-top: 1rem; }
.address { margin: 0.25rem 0 0.75rem; } .address span { float: right; color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { margin: 0.5rem 0 0; padding: 0.75rem; overflow: auto; background: var(--shade); border-radius: 6px; }
table { width: 100%; margin: 0.75rem 0; border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; text-align: left; vertical-align: top; font-weight: normal;
  border-top: 1px solid var(--line); }
th { width: 34%; } td:nth-child(2) { width: 22%; color: var(--soft); } em { color: var(--soft); }
summary { cursor: pointer; color: var(--soft); }
@media (max-width: 56rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; }
  .address span { float: none; display: block; } }
@media print { nav, details { display: none; } article { break-inside: avoid; } }
`
