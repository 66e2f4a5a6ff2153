/** The content of a page and its rendering errors. */
export interface Scan {
  problems: string[]
  /** The numbers of the planted texts that are on it, spelled out. */
  seen: number[]
  /** Those of them that stand in several lines, as they were written. */
  inLines: number[]
  /** Those whose end is nowhere. */
  cut: number[]
}

/** Looks at the page that is open. Runs in the browser, so it brings along all that it needs. */
export function scanPage(): Scan {
  const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u
  const problems: string[] = []
  const near = (text: string): string => {
    const at = text.search(unseen)
    return JSON.stringify(text.slice(Math.max(0, at - 20), at + 20))
  }
  const describe = (node: Node): string => {
    const element = node instanceof Element ? node : node.parentElement
    return element ? `<${element.tagName.toLowerCase()} class="${element.className}">` : node.nodeName
  }
  const texts: string[] = [document.title]
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let node: Node | null = walker.currentNode; node; node = walker.nextNode()) {
    if (node instanceof Text) {
      if (node.parentElement?.closest('script, style, textarea')) continue
      // Beside a field a text stands as the field has it, in its lines.
      texts.push(node.parentElement?.closest('.unseen, .cs-unseen') ? node.data.replaceAll('\n', '\\n') : node.data)
      const isProse = node.parentElement?.closest('.plain-text, .model-text') !== null
      const told = node.data.replaceAll('\n', '').replaceAll('\t', isProse ? '' : '\t')
      if (unseen.test(told)) problems.push(`${describe(node)} shows ${near(told)}`)
    } else if (node instanceof Element) {
      for (const name of ['title', 'aria-label', 'placeholder', 'alt', 'label']) {
        const given = node.getAttribute(name) ?? ''
        texts.push(given)
        if (unseen.test(given)) problems.push(`${describe(node)} ${name} is ${near(given)}`)
      }
      if ((node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) && unseen.test(node.value.replaceAll('\n', ''))) {
        // A field holds its text as it is; what cannot be seen in it has to stand beside it.
        if (!node.closest('.field, .cs-edit-field, section')?.querySelector('.unseen, .cs-unseen'))
          problems.push(`${describe(node)} holds ${near(node.value)}`)
      }
      if (node instanceof HTMLInputElement && node.readOnly) texts.push(node.value)
    }
  }
  const planted = '[onerror], iframe, object, embed, script:not([src]), img:not([src^="/assets/"]), [href^="javascript"], b'
  for (const element of document.body.querySelectorAll(planted)) problems.push(`there is ${element.outerHTML.slice(0, 120)}`)
  if ('pwned' in window) problems.push('a script of somebody else ran')
  for (const element of [
    document.documentElement,
    ...document.querySelectorAll('#main, .cs-card, [role=dialog], dialog[open], .MuiPaper-root'),
  ])
    if (element.scrollWidth > Math.max(element.clientWidth, 1) + 1)
      problems.push(`${describe(element)} is ${element.scrollWidth} px wide in ${element.clientWidth}`)
  const main = document.querySelector('#main')?.getBoundingClientRect()
  // Of two banners each takes up to 52 px.
  const most = document.querySelectorAll('.banners > *').length > 1 ? 202 : 150
  if (main && (main.top > most || main.height < 300)) problems.push(`the page is pushed out of sight: ${main.top} to ${main.bottom} px`)
  const all = texts.join('\n')
  const numbers = (pattern: RegExp): number[] => [...new Set([...all.matchAll(pattern)].map(([, number]) => Number(number)))]
  for (const number of numbers(/Q(\d+)Q(?!⟦U\+202E⟧)/g)) problems.push(`text ${number} begins otherwise than it was written`)
  const seen = numbers(/Q(\d+)Q⟦U\+202E⟧/g)
  const ends = numbers(/Z(\d+)Z/g)
  return {
    problems: [...new Set(problems)],
    seen,
    inLines: numbers(/Q(\d+)Q⟦U\+202E⟧\n/g),
    cut: seen.filter((number) => !ends.includes(number)),
  }
}

/** Scrolls to the end of every text of a card that was opened: what is hidden must be read before it is approved. */
export async function readAll(): Promise<void> {
  for (const end of document.querySelectorAll('.cs-end, [data-seen-mark]')) {
    end.scrollIntoView({ block: 'center' })
    // The observer looks once in each frame.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  }
}

/** Opens everything that opens: disclosures, and what hides the middle of a long text. Answers how many it opened. */
export function openAll(): number {
  const closed = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open])')]
  for (const one of closed) one.open = true
  const hidden = [...document.querySelectorAll<HTMLElement>('.cs-reveal')]
  for (const one of hidden) one.click()
  return closed.length + hidden.length
}
