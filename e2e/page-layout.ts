// Faults in the layout of a page. Each function runs in the browser, so it brings along all that it needs.

/** Names what is wider than its place: the page, its main region, a dialog, a card. */
export function sideScroll(): string[] {
  const places = '#main, .cs-card, [role=dialog], [role=alertdialog], dialog[open]'
  return [document.documentElement, document.body, ...document.querySelectorAll(places)]
    .filter((place) => place.scrollWidth > Math.max(place.clientWidth, 1) + 1)
    .map((place) => `<${place.tagName.toLowerCase()} class="${place.className}"> is ${place.scrollWidth} px wide in ${place.clientWidth}`)
}

/** Names how far the window scrolls where the parts of the page scroll by themselves: all of the page could be scrolled out of sight. */
export function windowScroll(): string[] {
  const restPx = document.documentElement.scrollHeight - innerHeight
  return document.querySelector('.shell') && restPx > 1 ? [`the window scrolls ${restPx} px, past all that is drawn`] : []
}

/** Names texts that are cut off at an edge, unless a title or a name has them whole. */
export function cutTexts(): string[] {
  const found = new Set<string>()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const clips = ({ overflowX, overflowY, contain, position }: CSSStyleDeclaration) => ({
    isPositioned: position !== 'static',
    scrolls: /auto|scroll/.test(`${overflowX} ${overflowY}`),
    hides: /hidden|clip/.test(`${overflowX} ${overflowY}`) || /paint|strict|content/.test(contain),
  })
  // A title says it in whole.
  const holds = (element: Element | null, text: string): boolean => (element?.getAttribute('title')?.length ?? 0) >= text.length
  // For screen readers alone.
  const isUnseen = ({ clipPath }: CSSStyleDeclaration): boolean => clipPath === 'inset(50%)'
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.trim().replace(/\s+/g, ' ') ?? ''
    const owner = node.parentElement
    if (text === '' || !owner || owner.closest('.visually-hidden, .cs-hidden, script, style, select') || isUnseen(getComputedStyle(owner)))
      continue
    if (!owner.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const { left, right, top, bottom } = range.getBoundingClientRect()
    if (right - left < 1 || bottom - top < 1) continue
    if (holds(owner.closest('[title]'), text)) continue
    let isFree = getComputedStyle(owner).position === 'fixed'
    for (let place: Element | null = owner; place && !isFree; place = place.parentElement) {
      const { scrolls, hides } = clips(getComputedStyle(place))
      if (scrolls) break
      if (hides) {
        const box = place.getBoundingClientRect()
        const lost = Math.max(box.left - left, right - box.right, box.top - top, bottom - box.bottom)
        if (lost > 1.5)
          found.add(
            `${Math.round(lost)} px of “${text.slice(0, 80)}” are cut off by <${place.tagName.toLowerCase()} class="${place.className}">`,
          )
      }
      isFree = getComputedStyle(place).position === 'fixed'
    }
  }
  return [...found]
}

/** Names buttons, links and fields that lie under something else, or do so in part. */
export function coveredControls(): string[] {
  const found = new Set<string>()
  const name = (element: Element): string =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> “${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60)}”`
  const controls =
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=option], [role=menuitem], [role=tab]'
  const scrolled = [...document.querySelectorAll('*')].map((one) => [one, one.scrollTop] as const)
  for (const control of document.querySelectorAll<HTMLElement>(controls)) {
    if (control.closest('.skip-link, .visually-hidden, [aria-hidden=true], [inert]')) continue
    // All else is inert while one is open.
    if (document.querySelector('dialog:modal') && !control.closest('dialog:modal')) continue
    if (!control.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true })) continue
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    const frames: DOMRect[] = []
    for (let place = control.parentElement; place; place = place.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(place).overflow)) frames.push(place.getBoundingClientRect())
    const isOut = (x: number, y: number) => frames.some(({ left, right, top, bottom }) => x < left || x > right || y < top || y > bottom)
    // A text in several lines has a box for each.
    for (const { left, right, top, bottom, width, height } of control.getClientRects()) {
      if (width < 8 || height < 8) continue
      const [middle, centre] = [top + height / 2, left + width / 2]
      for (const [x, y] of [
        [centre, middle],
        [left + 3, middle],
        [right - 3, middle],
        [centre, top + 3],
        [centre, bottom - 3],
      ] as const) {
        const over = isOut(x, y) ? null : document.elementFromPoint(x, y)
        if (!over || control.contains(over) || over.contains(control) || over.closest('label')?.control === control) continue
        found.add(`${name(control)} lies under ${name(over)}`)
      }
    }
  }
  for (const [one, top] of scrolled) one.scrollTop = top
  return [...found]
}

/** Names texts that are drawn over one another. */
export function overlappingTexts(): string[] {
  const found = new Set<string>()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const texts: { node: Node; box: DOMRect; layer: Element | null }[] = []
  const common = (one: DOMRect, other: DOMRect): DOMRect => {
    const [left, top] = [Math.max(one.left, other.left), Math.max(one.top, other.top)]
    return new DOMRect(
      left,
      top,
      Math.max(0, Math.min(one.right, other.right) - left),
      Math.max(0, Math.min(one.bottom, other.bottom) - top),
    )
  }
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement
    if (node.textContent?.trim() === '' || !owner || owner.closest('.visually-hidden, .skip-link, script, style, select')) continue
    if (!owner.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    let layer: Element | null = null
    let bounds = new DOMRect(0, 0, innerWidth, innerHeight)
    for (let place: Element | null = owner; place; place = place.parentElement) {
      const { position, overflow, contain } = getComputedStyle(place)
      if (/hidden|clip|auto|scroll/.test(overflow) || /paint|strict|content/.test(contain))
        bounds = common(bounds, place.getBoundingClientRect())
      if (position !== 'static' && position !== 'relative') layer ??= place
    }
    for (const rect of range.getClientRects()) {
      const box = common(rect, bounds)
      if (box.width > 2 && box.height > 2) texts.push({ node, box, layer })
    }
  }
  texts.sort((one, other) => one.box.top - other.box.top)
  texts.forEach((one, at) => {
    for (const other of texts.slice(at + 1)) {
      if (other.box.top > one.box.bottom) break
      // What floats over the rest, such as a menu, stands over it by its nature; what is cut off has the rest of it under its “…”.
      if (other.layer !== one.layer || other.node === one.node) continue
      const { width, height } = common(one.box, other.box)
      if (width > 2 && height > 5)
        found.add(
          `“${one.node.textContent?.trim().slice(0, 50)}” and “${other.node.textContent?.trim().slice(0, 50)}” stand over one another`,
        )
    }
  })
  return [...found]
}

/** Names running text whose lines are too long to read: more than `most` characters. */
export function longLines(most: number): string[] {
  const found = new Set<string>()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.trim().replace(/\s+/g, ' ') ?? ''
    const owner = node.parentElement
    if (text.length <= most || !owner?.checkVisibility() || owner.closest('.visually-hidden, pre, script, style, textarea, select'))
      continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top / 4))).size
    if (lines > 0 && text.length / lines > most)
      found.add(`${Math.round(text.length / lines)} characters stand in one line: “${text.slice(0, 60)}…”`)
  }
  return [...found]
}
