import { readLabel } from './punycode.ts'

/** A host behind `//` or `@`, unless its other spelling stands behind it already. */
const HOST = /(?<=\/\/(?:[^\s/?#@]*@)?|@)([^\s/?#:@\\"'`<>()[\]{}|^,;⟦⟧]+)(?=[\s/?#:@\\"'`<>()[\]{}|^,;⟧]|$)/gu
const PLAIN = /^[\x21-\x7e]*$/

/**
 * The text with the other spelling behind every host name that is not plain ASCII: the ASCII one that will be asked for behind a name in
 * other letters (`аpple.com⟦xn--pple-43d.com⟧`), the letters behind `xn--` (`xn--mnchen-3ya.de⟦münchen.de⟧`). Two hosts that look alike are
 * told apart by it.
 */
export function showHosts(text: string): string {
  if (!text.includes('//') && !text.includes('@')) return text
  return text.replace(HOST, (host: string) => {
    const other = PLAIN.test(host) ? readable(host) : ascii(host)
    return other === undefined || other === host.toLowerCase() ? host : `${host}⟦${other}⟧`
  })
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
