/** The mark of the console (apps/web/src/ui/countersign.svg). */
export const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-linecap="round" stroke-linejoin="round">
  <rect x="1" y="1" width="22" height="22" rx="6" fill="#27457d" />
  <path d="M5.5 11.5l3 3 5.5-6" stroke="#fff" stroke-width="2" />
  <path d="M11.5 14.5l5.5-6M6.5 18h11" stroke="#a9c1f3" stroke-width="2" />
</svg>`

/** The API page in the colours and type of the console (apps/web/src/ui/theme.ts), light and dark. Swagger's own style comes before it. */
export const PAGE_STYLE = `
html { color-scheme: light; }
html.dark-mode { color-scheme: dark; }
:root {
  --text: light-dark(#1d1f23, #e8e9ec);
  --muted: light-dark(#5a5f69, #a5a9b3);
  --line: light-dark(#e1e2e5, #303339);
  --page: light-dark(#ffffff, #17181b);
  --paper: light-dark(#ffffff, #202226);
  --soft: light-dark(#f6f6f7, #121315);
  --accent: light-dark(#27457d, #a9c1f3);
  --on-accent: light-dark(#ffffff, #10182a);
  --good: light-dark(#1f6a41, #86d1a5);
  --bad: light-dark(#a8261c, #f4a79f);
  --amber: light-dark(#855000, #efbd6b);
}
html, body { background: var(--page); }
/* The id outweighs Swagger's own rules, which have up to five classes in its dark mode. */
html:not(#none) {
  .swagger-ui, .swagger-ui *:not(code, pre, pre *, .microlight, svg, svg *) { font-family: system-ui, sans-serif; }
  .swagger-ui, .swagger-ui :is(h1, h2, h3, h4, h5, p, li, td, th, label, a.nostyle, table, input, select, textarea, button),
  .swagger-ui :is(.info .title, .opblock-tag, .opblock-summary-path, .opblock-summary-path__deprecated, .parameter__name, .response-col_status, .tab li, .model, .model-title, .dialog-ux .modal-ux-header h3) { color: var(--text); }
  .swagger-ui :is(.opblock-tag small, .opblock-summary-description, .parameter__type, .parameter__in, .prop-format, .response-col_links, .renderedMarkdown p, .info .base-url, .model .renderedMarkdown) { color: var(--muted); }
  .swagger-ui :is(a.link, .info a, .markdown a, .renderedMarkdown a) { color: var(--accent); }
  .swagger-ui .topbar { padding: 10px 0; border-bottom: 1px solid var(--line); background: var(--page); }
  .swagger-ui .topbar .topbar-wrapper { justify-content: flex-start; }
  .swagger-ui .topbar :is(.topbar-wrapper a, .link) { max-width: none; }
  .swagger-ui .topbar :is(img, svg) { height: 28px; width: 28px; }
  .swagger-ui .topbar .download-url-wrapper, .swagger-ui .info .title small { display: none; }
  .swagger-ui .info { margin: 24px 0 12px; }
  .swagger-ui .info .title { font-size: 24px; font-weight: 650; }
  .swagger-ui .scheme-container { padding: 12px 0; background: none; box-shadow: none; }
  .swagger-ui .opblock-tag { padding: 12px 0; border-bottom: 1px solid var(--line); font-size: 16px; font-weight: 650; }
  .swagger-ui .opblock-tag:hover { background: var(--soft); }
  .swagger-ui .opblock { margin: 0 0 8px; border: 1px solid var(--line) !important; border-radius: 10px; background: var(--paper) !important; box-shadow: none; }
  .swagger-ui .opblock .opblock-summary { border-color: var(--line) !important; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 72px; border: 1px solid currentcolor; border-radius: 6px; background: none !important; font-size: 12px; text-shadow: none; }
  .swagger-ui .opblock.opblock-get .opblock-summary-method { color: var(--accent); }
  .swagger-ui .opblock:is(.opblock-post, .opblock-put) .opblock-summary-method { color: var(--good); }
  .swagger-ui .opblock.opblock-patch .opblock-summary-method { color: var(--amber); }
  .swagger-ui .opblock.opblock-delete .opblock-summary-method { color: var(--bad); }
  .swagger-ui :is(.opblock-summary-path, code, .microlight) { font-size: 13px; }
  .swagger-ui .opblock .opblock-section-header { background: var(--soft); box-shadow: none; }
  .swagger-ui :is(input[type=text], input[type=password], select, textarea) { border: 1px solid var(--muted); border-radius: 6px; background-color: var(--paper); box-shadow: none; color: var(--text); }
  .swagger-ui .btn { border: 1px solid var(--muted); border-radius: 8px; box-shadow: none; color: var(--text); background: var(--paper); }
  .swagger-ui .btn:is(.execute, .authorize) { border-color: var(--accent); color: var(--on-accent); background: var(--accent); }
  .swagger-ui .btn.authorize :is(svg, .unlocked, .locked) { fill: var(--on-accent); }
  .swagger-ui :is(.expand-operation svg, .opblock-control-arrow svg, .model-toggle, .arrow, .unlocked, .locked) { fill: var(--muted); }
  .swagger-ui section.models { border: 1px solid var(--line); border-radius: 10px; }
  .swagger-ui :is(section.models .model-container, .model-box) { background: var(--soft); }
  .swagger-ui :is(.dialog-ux .modal-ux, .dialog-ux .modal-ux-header, .dialog-ux .modal-ux-content) { border-color: var(--line); background: var(--paper); }
  .swagger-ui :is(table thead tr td, table thead tr th, .responses-inner h4, .col_header) { border-color: var(--line); color: var(--muted); }
  .swagger-ui :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .swagger-ui :is(.markdown, .renderedMarkdown) code { color: var(--text); background: var(--soft); }
  .swagger-ui :is(.microlight, .highlight-code > .microlight) { background: #1d1f23; }
  .swagger-ui .copy-to-clipboard { background-color: var(--muted); }
  .swagger-ui .tab li button.tablinks { color: var(--text); }
  .swagger-ui .opblock .tab-header .tab-item.active h4 span::after { background: var(--accent); }
}
`
