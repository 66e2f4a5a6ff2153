import { isLiteral, type Reach } from './reach.ts'

/** A longer query or path may carry data out. */
const MAX_QUERY_CHARS = 100
const MAX_PATH_CHARS = 300
/** Longer than the id of a commit. */
const CODE = /[A-Za-z0-9+_=]{41,}/

/** Parameters that usually are a secret. */
const SECRET =
  /^(x-(amz|goog)-.*|(access|auth|id|refresh|session)?[_-]?token|api[_-]?key|authorization|client[_-]?secret|credentials?|key|pass(word|wd)?|pwd|secret|sig|signature)$/i

const REACH: Readonly<Record<Reach, string | undefined>> = {
  public: undefined,
  private: 'leads into this machine or its network',
  never: 'leads to an address where cloud machines give out credentials',
}

/** Returns the risks of an address, in words. Each one makes a call high risk, so that it needs approval every time. */
export function risksOf(url: URL, reach: Reach): string[] {
  const { hostname, username, password, port, pathname, search } = url
  const secret = [...url.searchParams.keys()].find((name) => SECRET.test(name))
  const found: (string | undefined)[] = [
    username === '' && password === '' ? undefined : 'carries a user name or password',
    secret === undefined ? undefined : `carries “${secret}”, which usually is a secret`,
    REACH[reach],
    isLiteral(hostname) && reach === 'public' ? 'names a bare address instead of a host' : undefined,
    port === '' ? undefined : `uses the port ${port}`,
    /(^|\.)xn--/.test(hostname) ? 'has letters in its host that may look like others' : undefined,
    tooLong('query', search.slice(1), MAX_QUERY_CHARS),
    tooLong('path', pathname, MAX_PATH_CHARS),
    ...[hostname, pathname, search].map((part) => longCode(decoded(part))),
  ]
  return found.filter((risk) => risk !== undefined)
}

/** Says that a text carries what no word is; undefined where it does not. */
export function longCode(text: string): string | undefined {
  const [code] = CODE.exec(text) ?? []
  return code && `carries a code of ${code.length} characters`
}

export const tooLong = (part: string, text: string, most: number): string | undefined =>
  text.length > most ? `carries much text: ${text.length} characters in its ${part}` : undefined

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
