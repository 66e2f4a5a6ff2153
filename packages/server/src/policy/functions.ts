/** The cost of a call of a function: see `priceOf` and `addUses` in the meter. */
export type Charge = 'plain' | 'loop' | 'search' | 'time'

export interface ConditionFunction {
  charge: Charge
  /** The kind of value that it is called on: `text.trim()`. `call`: it stands alone, as `has(…)` does. */
  on: 'call' | 'text' | 'list' | 'time'
  /** A condition that calls it. */
  example: string
  /** Its result in a few words, for lists of functions. */
  gives: string
}

/** The functions that a condition can call. All others could take forever or have no use here. */
export const CONDITION_FUNCTIONS = {
  has: { charge: 'plain', on: 'call', example: 'has(args.name)', gives: 'true if the field is there' },
  size: { charge: 'plain', on: 'call', example: 'size(args.name) == 3', gives: 'the length of a text or list' },
  all: { charge: 'loop', on: 'list', example: 'args.tags.all(tag, tag < "c")', gives: 'true if it holds for every element' },
  exists: { charge: 'loop', on: 'list', example: 'args.tags.exists(tag, tag == "b")', gives: 'true if it holds for an element' },
  exists_one: {
    charge: 'loop',
    on: 'list',
    example: 'args.tags.exists_one(tag, tag == "b")',
    gives: 'true if it holds for exactly one element',
  },
  filter: { charge: 'loop', on: 'list', example: 'args.tags.filter(tag, tag == "b") == ["b"]', gives: 'the elements for which it holds' },
  map: { charge: 'loop', on: 'list', example: 'args.tags.map(tag, tag + "!") == ["a!", "b!"]', gives: 'a value for each element' },
  startsWith: { charge: 'plain', on: 'text', example: 'args.name.startsWith("A")', gives: 'true if the text begins so' },
  endsWith: { charge: 'plain', on: 'text', example: 'args.name.endsWith("a")', gives: 'true if the text ends so' },
  contains: { charge: 'search', on: 'text', example: 'args.name.contains("d")', gives: 'true if the text contains it' },
  fits: { charge: 'search', on: 'text', example: 'args.name.fits("A*a")', gives: 'true if the text fits a pattern with *' },
  lowerAscii: { charge: 'plain', on: 'text', example: 'args.name.lowerAscii() == "ada"', gives: 'the text in lower case' },
  upperAscii: { charge: 'plain', on: 'text', example: 'args.name.upperAscii() == "ADA"', gives: 'the text in upper case' },
  trim: { charge: 'plain', on: 'text', example: '" Ada ".trim() == args.name', gives: 'the text without spaces around it' },
  indexOf: { charge: 'search', on: 'text', example: 'args.name.indexOf("d") == 1', gives: 'the first place of a text, -1 without one' },
  lastIndexOf: {
    charge: 'search',
    on: 'text',
    example: 'args.name.lastIndexOf("a") == 2',
    gives: 'the last place of a text, -1 without one',
  },
  substring: { charge: 'plain', on: 'text', example: 'args.name.substring(1, 3) == "da"', gives: 'a part of the text' },
  int: { charge: 'plain', on: 'call', example: 'int(args.count) == 5', gives: 'a whole number' },
  double: { charge: 'plain', on: 'call', example: 'double(args.count) == 5.0', gives: 'a number' },
  string: { charge: 'plain', on: 'call', example: 'string(args.count) == "5"', gives: 'a text' },
  bool: { charge: 'plain', on: 'call', example: 'bool("true")', gives: 'true or false' },
  dyn: { charge: 'plain', on: 'call', example: 'dyn(args.count) == 5', gives: 'the value, without a check of its type' },
  timestamp: { charge: 'plain', on: 'call', example: 'timestamp("2026-11-21T22:30:00Z") == now', gives: 'a time' },
  duration: { charge: 'plain', on: 'call', example: 'duration("90m") == duration("5400s")', gives: 'a length of time' },
  getFullYear: { charge: 'time', on: 'time', example: 'now.getFullYear() == 2026', gives: 'the year' },
  getMonth: { charge: 'time', on: 'time', example: 'now.getMonth() == 10', gives: 'the month, January is 0' },
  getDate: { charge: 'time', on: 'time', example: 'now.getDate() == 21', gives: 'the day of the month, from 1' },
  getDayOfMonth: { charge: 'time', on: 'time', example: 'now.getDayOfMonth() == 20', gives: 'the day of the month, from 0' },
  getDayOfWeek: { charge: 'time', on: 'time', example: 'now.getDayOfWeek() == 6', gives: 'the day of the week, Sunday is 0' },
  getDayOfYear: { charge: 'time', on: 'time', example: 'now.getDayOfYear() == 324', gives: 'the day of the year, from 0' },
  getHours: { charge: 'time', on: 'time', example: 'now.getHours() == 22', gives: 'the hour in UTC, or in a time zone that is named' },
  getMinutes: { charge: 'time', on: 'time', example: 'now.getMinutes() == 30', gives: 'the minute' },
  getSeconds: { charge: 'time', on: 'time', example: 'now.getSeconds() == 0', gives: 'the second' },
} as const satisfies Readonly<Record<string, ConditionFunction>>
