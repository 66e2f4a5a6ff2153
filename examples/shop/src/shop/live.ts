/**
 * The one script of the pages: asks every two seconds for the newest effect, and takes the fresh page when there is one. It runs in
 * browsers as it stands, so it is plain JavaScript kept as text.
 */
export const LIVE_SCRIPT = `
const newest = async () => (await (await fetch('/api/effects?limit=1')).json()).items[0]?.id ?? 0
const rows = (root) => new Map([...root.querySelectorAll('[data-key]')].map((row) => [row.dataset.key, row]))

async function refresh() {
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html')
  const [now, next] = [document.querySelector('main'), page.querySelector('main')]
  const before = rows(now)
  for (const [key, row] of rows(next)) {
    if (before.get(key)?.textContent !== row.textContent) row.classList.add('changed')
  }
  const focused = document.activeElement?.getAttribute('href')
  now.replaceWith(next)
  if (focused) next.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus()
  document.body.dataset.effect = page.body.dataset.effect
  document.querySelector('#live').textContent = 'The page was updated at ' + new Date().toLocaleTimeString()
}

async function poll() {
  try {
    if (!document.hidden && String(await newest()) !== document.body.dataset.effect) await refresh()
  } catch {
    document.querySelector('#live').textContent = 'The shop does not answer; trying again.'
  }
  setTimeout(poll, 2000)
}
poll()
`
