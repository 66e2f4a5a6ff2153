import { readLabel } from './punycode.ts'

/** A host behind `//` or `@`. */
const HOST = /(?<=\/\/(?:[^\s/?#@]*@)?|@)([^\s/?#:@\\"'`<>()[\]{}|^,;⟦⟧]+)(?=[\s/?#:@\\"'`<>()[\]{}|^,;⟦⟧]|$)/gu
const PLAIN = /^[\x21-\x7e]*$/

/**
 * Adds the other spelling after every host name that is not plain ASCII: the ASCII spelling that will be requested after a name in other
 * letters (`аpple.com⟦xn--pple-43d.com⟧`), and the letters after `xn--` (`xn--mnchen-3ya.de⟦münchen.de⟧`). Two hosts that look alike then
 * differ.
 * @param between Converts the text between such hosts.
 */
export function showHosts(text: string, between: (text: string) => string): string {
  if (!text.includes('//') && !text.includes('@')) return between(text)
  let shown = ''
  let from = 0
  for (const found of text.matchAll(HOST)) {
    const host = found[0]
    const other = PLAIN.test(host) ? readable(host) : ascii(host)
    if (other === undefined || other === host.toLowerCase()) continue
    const mark = `⟦${other}⟧`
    shown += `${between(text.slice(from, found.index))}${host}${mark}`
    from = found.index + host.length
    // Shown twice, it is marked once. Brackets that say anything else are somebody's text.
    if (text.startsWith(mark, from)) from += mark.length
  }
  return shown + between(text.slice(from))
}

function readable(host: string): string | undefined {
  if (!/(^|\.)xn--/i.test(host)) return undefined
  return host
    .toLowerCase()
    .split('.')
    .map((label) => readLabel(label) ?? label)
    .join('.')
}

function ascii(host: string): string | undefined {
  // `@müller` is a person, `a@müller.de` a host.
  if (!/[.。．｡]/u.test(host)) return undefined
  const address = `http://${host}/`
  return URL.canParse(address) ? new URL(address).hostname : undefined
}
