/** Text that is already HTML. Only the `html` tag makes it, so whatever else reaches a page is escaped. */
export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

type Part = Html | string | number | readonly Part[]

/**
 * Builds HTML; every interpolated text is escaped for content and for quoted attributes.
 * @example String(html`<b title="${'"'}">${'<i>'}</b>`) // '<b title="&quot;">&lt;i&gt;</b>'
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.reduce((text, string, index) => text + render(parts[index - 1] ?? '') + string))

const render = (part: Part): string => {
  if (part instanceof Html) return String(part)
  if (typeof part === 'object') return part.map(render).join('')
  return escapeHtml(String(part))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
