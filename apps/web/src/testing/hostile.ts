/** One of every kind of character and text that could hide something or make it look like something else. */
const LIES = [
  '\u202e\u2066\u061c\u200f', // the order of what stands beside it
  '\u200b\u200d\u2060\ufeff\u00ad\u034f\u180e\u115f\u{e0041}\u{e0100}\ufe0f\u{1d173}', // no width at all
  '\u00a0\u2003\u3000\u2800', // taken for a space
  '\u2028\u2029\r\u0085', // a new line to some
  '\u0000\u0007\u001b[31m\u001b]8;;http://evil.example\u0007\u007f\u009b', // controls and what terminals make of them
  '\ud800', // half a character
  'https://аpple.com/ https://xn--pple-43d.com/', // one host that looks like another
  '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>&lt;b&#x202e;<!--', // markup
  '[a](javascript:window.pwned=1)![b](/x.png)`c`', // markup of another kind
]

/** Behind it all what is too long for any line, without a place to break. */
const LONG = 'W'.repeat(700)

/** The texts that were planted, each by its number and with the path of the field it stands in. */
export interface Planted {
  paths: string[]
  /** A text that lies in every way there is, and is known again by its number: `Q7Q` at its beginning, `Z7Z` at its end. */
  text(path: string): string
}

export function plant(): Planted {
  const paths: string[] = []
  return {
    paths,
    text(path) {
      const known = paths.indexOf(path)
      const at = known >= 0 ? known : paths.push(path) - 1
      return `Q${at}Q\u202e\n${LIES.join(' ')}${LONG}Z${at}Z`
    },
  }
}

/** The parts of a wire schema that say which texts it has. */
interface Schema {
  _zod: { def: object }
}
interface Def {
  type: string
  shape?: Record<string, Schema>
  element?: Schema
  innerType?: Schema
  valueType?: Schema
  options?: readonly Schema[]
  entries?: Record<string, unknown>
  values?: readonly unknown[]
}

const TIME = '2026-11-21T10:44:00.000Z'
const isTime = (key: string) => /(^a|A)t$/.test(key)
/** What the server itself makes up, of letters and digits only. */
const isOurs = (key: string) => /(^i|I)d$|^(key|digest|hash|prev|dataHash|publicKey|algorithm|endsAt)$/.test(key)

/**
 * A value of a wire schema in which every text that somebody else may write lies. A field that is new is in it by itself.
 * @param over Values by path, where it has to be a certain one: `Action.state`.
 */
export function fill<T>(planted: Planted, schema: Schema, path: string, over: Record<string, unknown> = {}): T {
  return value(schema, path) as T

  function value(of: Schema, at: string): unknown {
    if (at in over) return over[at]
    const def = of._zod.def as Def
    const key = at.split('.').at(-1) ?? ''
    switch (def.type) {
      case 'object':
        return Object.fromEntries(Object.entries(def.shape ?? {}).map(([name, part]) => [name, value(part, `${at}.${name}`)]))
      case 'array':
        return def.element ? [value(def.element, `${at}.0`)] : []
      case 'record':
        return { [planted.text(`${at}.key`)]: def.valueType ? value(def.valueType, `${at}.value`) : null }
      case 'optional':
      case 'nullable':
      case 'default':
      case 'lazy':
      case 'pipe':
        return def.innerType ? value(def.innerType, at) : planted.text(at)
      case 'enum':
        return Object.values(def.entries ?? {})[0]
      case 'literal':
        return def.values?.[0]
      case 'union':
        return def.options?.[0] ? value(def.options[0], at) : null
      case 'int':
      case 'number':
        return 1
      case 'boolean':
        return false
      case 'string':
        if (isTime(key)) return TIME
        return isOurs(key) ? `${key}_000001` : planted.text(at)
      default:
        return planted.text(at)
    }
  }
}
