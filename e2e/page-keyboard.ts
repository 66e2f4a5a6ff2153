import type { Page } from '@playwright/test'

declare global {
  interface Window {
    /** The elements that had the focus so far, in order. */
    stops: Set<Element>
    /** The one before. */
    lastStop: Element | null
    /** Nothing had the focus just now. */
    hasLeft: boolean
  }
}

/** Goes through the page with Tab, or through an open menu with the arrows, and names what shows no focus, is hidden while it has it, or is never reached. */
export async function goThrough(page: Page): Promise<string[]> {
  const isMenu = await page.evaluate(begin)
  const problems: string[] = []
  for (let stops = 0; stops < 400; stops++) {
    if (!isMenu || stops > 0) await page.keyboard.press(isMenu ? 'ArrowDown' : 'Tab')
    const found = await page.evaluate(lookAtFocus)
    if (found === undefined) break
    problems.push(...found)
  }
  return [...new Set([...problems, ...(await page.evaluate(unreached))])]
}

/** In the page: puts the focus at its beginning, or at that of a dialog that is open. Answers whether a menu is open, which has it. */
function begin(): boolean {
  window.stops = new Set()
  window.lastStop = null
  window.hasLeft = false
  if (document.querySelector('[role=menu]')) return true
  const start = document.querySelector<HTMLElement>('[role=dialog], [role=alertdialog], dialog[open]') ?? document.body
  const before = start.getAttribute('tabindex')
  start.setAttribute('tabindex', '-1')
  start.focus({ preventScroll: true })
  if (before === null) start.removeAttribute('tabindex')
  // A dialog that scrolls is a stop itself.
  if (start !== document.body) window.stops.add(start)
  return false
}

/** In the page: what is wrong with the element that has the focus; undefined at the end of the page. */
function lookAtFocus(): string[] | undefined {
  const element = document.activeElement
  if (!(element instanceof HTMLElement)) return []
  // After the last stop the browser's own bars have the focus; within the page nothing may drop it.
  if (element === document.body) {
    window.hasLeft = true
    return []
  }
  // A date is one element with several stops.
  if (element === window.lastStop) return []
  window.lastStop = element
  if (window.stops.has(element)) return undefined
  const lost = window.hasLeft && window.stops.size > 0 ? ['the focus is lost on the way to it'] : []
  window.hasLeft = false
  window.stops.add(element)
  const name = `<${element.tagName.toLowerCase()} class="${element.className}"> “${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60)}”`
  const look = () => {
    const seen: string[] = []
    for (const one of [element, element.parentElement, element.querySelector(':scope > *')]) {
      if (!one) continue
      for (const part of [null, '::before', '::after']) {
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, textDecorationLine } = getComputedStyle(one, part)
        seen.push([outlineStyle === 'none' ? 'none' : `${outlineWidth} ${outlineColor}`, boxShadow, borderColor, textDecorationLine].join())
      }
    }
    return seen.join('|')
  }
  const found = lost.map((what) => `${name}: ${what}`)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 1) {
    const focused = look()
    element.blur()
    const isSame = look() === focused
    element.focus({ preventScroll: true })
    if (isSame) found.push(`${name} shows no focus`)
  }
  // In part it may lie under a bar that stays in its place, but never as a whole.
  const { left, right, top, bottom } = element.getClientRects()[0] ?? new DOMRect()
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2
  const isSeen = [top + 3, (top + bottom) / 2, bottom - 3, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2].some((y) => {
    const over = document.elementFromPoint(x, y)
    return over !== null && (element.contains(over) || over.contains(element) || over.closest('label')?.control === element)
  })
  if (!isSeen) found.push(`${name} has the focus out of sight`)
  return found
}

/** In the page: the controls that Tab did not reach. */
function unreached(): string[] {
  // The link at the beginning is seen only while it has the focus.
  if (document.activeElement instanceof HTMLElement && !document.querySelector('[role=menu]')) document.activeElement.blur()
  const modal = document.querySelector('[aria-modal=true], dialog[open], .MuiModal-root [role=dialog], [role=menu]') ?? document.body
  const roving = '[role=listbox], [role=menu], [role=tablist], [role=toolbar], [role=radiogroup], [role=grid], [role=tree]'
  return [
    ...modal.querySelectorAll<HTMLElement>(
      'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=option], [onclick]',
    ),
  ]
    .filter((one) => one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) && one.getClientRects().length > 0)
    .filter((one) => !one.matches(':disabled, [type=radio], [aria-hidden=true] *') && !one.closest('[inert]'))
    .filter((one) => !window.stops.has(one) && !(one.tabIndex < 0 && one.closest(roving)))
    .map(
      (one) =>
        `<${one.tagName.toLowerCase()} class="${one.className}"> “${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 60)}” is not reached with Tab`,
    )
}
