// Faults in the motion and the colours of a page. Each function runs in the browser, so it brings along all that it needs.

/** Names what moves although its person asked for less motion. */
export function motions(): string[] {
  const found = new Set<string>()
  const seconds = (durations: string) =>
    Math.max(...durations.split(',').map((one) => Number.parseFloat(one) * (one.trim().endsWith('ms') ? 0.001 : 1)))
  for (const element of document.querySelectorAll('body *')) {
    const { animationName, animationDuration, transitionDuration, transitionProperty, scrollBehavior } = getComputedStyle(element)
    const what = `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}">`
    if (animationName !== 'none' && seconds(animationDuration) > 0.01) found.add(`${what} is animated by ${animationName}`)
    const moves = transitionProperty
      .split(', ')
      .filter((property) => /all|transform|left|right|top|bottom|width|height|margin|translate|scale/.test(property))
    if (moves.length > 0 && seconds(transitionDuration) > 0.01) found.add(`${what} moves by a transition of ${moves}`)
    if (scrollBehavior === 'smooth') found.add(`${what} scrolls smoothly`)
  }
  return [...found]
}

/** Marks what is only seen by its colour: bars, dots and marks without a text. Answers those that are gone once the system chooses the colours. */
export function lostColours(): string[] {
  const found = new Set<string>()
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    if (
      element.closest('svg') ||
      !element.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true })
    )
      continue
    const { width, height } = element.getBoundingClientRect()
    if (width < 3 || height < 3 || element.textContent?.trim() !== '' || element.querySelector('svg, img, input')) continue
    const { backgroundColor, backgroundImage, borderStyle, outlineStyle } = getComputedStyle(element)
    const shape = backgroundColor !== 'rgba(0, 0, 0, 0)' || backgroundImage !== 'none'
    if (!matchMedia('(forced-colors: active)').matches) {
      if (shape && element.matches(':not(input, textarea, select, button)')) element.dataset.shape = ''
    } else if (element.dataset.shape !== undefined) {
      let ground: Element | null = element.parentElement
      while (ground && getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement
      const isSame =
        ground === null || getComputedStyle(ground).backgroundColor === backgroundColor || backgroundColor === 'rgba(0, 0, 0, 0)'
      if (isSame && backgroundImage === 'none' && borderStyle === 'none' && outlineStyle === 'none')
        found.add(`<${element.tagName.toLowerCase()} class="${element.className}"> is gone with forced colours`)
    }
  }
  return [...found]
}

/** Names what is chosen, pressed or current and looks no different from what is not, with forced colours. */
export function sameLooks(): string[] {
  const found = new Set<string>()
  const states = ['aria-current', 'aria-selected', 'aria-pressed', 'aria-checked']
  const look = (element: Element): string => {
    const styles = [element, ...element.querySelectorAll('*')].slice(0, 8).map((one) => {
      const { outlineStyle, outlineWidth, borderStyle, borderWidth, fontWeight, textDecorationLine, backgroundColor, color } =
        getComputedStyle(one)
      return [outlineStyle, outlineWidth, borderStyle, borderWidth, fontWeight, textDecorationLine, backgroundColor, color].join()
    })
    return `${styles.join('|')} ${element.querySelectorAll('svg').length}`
  }
  for (const state of states) {
    for (const element of document.querySelectorAll<HTMLElement>(`[${state}]:not([${state}=false])`)) {
      if (!element.checkVisibility() || element.matches('input')) continue
      const list = element.parentElement?.closest('[role=listbox], [role=menu], ul, nav, div')
      const other = [...(list?.getElementsByClassName(element.className) ?? [])].find(
        (one) => one !== element && (one.getAttribute(state) ?? 'false') === 'false' && one.checkVisibility(),
      )
      if (other && look(other) === look(element))
        found.add(
          `${state} <${element.tagName.toLowerCase()} class="${element.className}"> “${element.textContent?.trim().slice(0, 40)}” looks like the rest`,
        )
    }
  }
  return [...found]
}
