import { NUMBER_PATTERN, numberOf } from './words.ts'

/** The fields of a product that the desk uses. */
export interface CatalogueProduct {
  id: string
  name: string
  priceCents: number
  stock: number
}

export interface Basket {
  items: { product: CatalogueProduct; quantity: number }[]
  /** Pieces of the wish that name no product, in the person's words. */
  unknown: string[]
  /** Pieces that could be more than one product. */
  ambiguous: { words: string; candidates: CatalogueProduct[] }[]
  customerName?: string
  customerEmail?: string
}

const EMAIL = /[^\s<>(),;:"']+@[^\s<>(),;:"']+\.[a-z]{2,}/i
// A name is one to four words after "for"; what follows it must end it, so that "for two mugs and a pen" is not a person.
const NAME_WORD = "(?!(?:for|and|with|at|please)\\b)\\p{L}[\\p{L}'’.-]*"
const FOR = new RegExp(
  `\\b(?:for|customer(?: is)?)\\s+(${NAME_WORD}(?:\\s+${NAME_WORD}){0,3})(?=\\s*(?:[,(<;:)!?]|$)|\\s+(?:at|with|and|please|for)\\b)`,
  'giu',
)
const NOT_A_NAME = new RegExp(
  `^(?:me|us|myself|now|today|tomorrow|delivery|free|checkout|order|the|my|our|him|her|them|it|${NUMBER_PATTERN})\\b`,
  'i',
)
const LEAD =
  /\b(?:please|can you|could you|would you|i'd like|i would like|i want|we need|to|check\s?-?out|checkout|buy|purchase|place|order|orders|new|me|us|with|customer|email|e-mail|of|the|some|x|×|for|also|then|each|more|now|today|thanks|thank you|at|is)\b|[()<>:.!?]/gi
const QUANTITY = new RegExp(`(?:^|\\s)(${NUMBER_PATTERN})(?=\\s|$)`, 'gi')

/**
 * Reads what to check out and for whom, looking the products up in the catalogue: number words, plurals, several products,
 * `2x mug` and `mug x 2`, a name after "for", an email address anywhere.
 */
export function readBasket(message: string, catalogue: readonly CatalogueProduct[]): Basket {
  const customerEmail = EMAIL.exec(message)?.[0]
  const withoutEmail = message.replace(EMAIL, ' ')
  const person = findPerson(withoutEmail, catalogue)
  const wish = person ? withoutEmail.replace(person.words, ' ') : withoutEmail

  const basket: Basket = {
    items: [],
    unknown: [],
    ambiguous: [],
    ...(person && { customerName: person.name }),
    ...(customerEmail && { customerEmail }),
  }
  for (const piece of splitWish(wish)) addPiece(basket, piece, catalogue)
  return basket
}

function findPerson(message: string, catalogue: readonly CatalogueProduct[]): { name: string; words: string } | undefined {
  const people = [...message.matchAll(FOR)]
    .map((match) => ({ words: match[0], name: (match[1] ?? '').replace(/[\s.]+$/, '') }))
    .filter(({ name }) => name !== '' && !NOT_A_NAME.test(name) && findProducts(name, catalogue).length === 0)
  const person = people.at(-1)
  return person && { words: person.words, name: capitalise(person.name) }
}

/** "two mugs and a pen, 3 x notebook" → its three pieces. */
function splitWish(wish: string): string[] {
  return wish
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\bhalf a dozen\b/g, '6')
    .replace(/(\d)\s*[x×]\s*(?=\p{L})/gu, '$1 ')
    .replace(/\s[x×]\s*(\d)/g, ' $1')
    .split(/,|;|\n|&|\+|\band\b|\bplus\b/)
    .map((piece) => piece.replace(LEAD, ' ').replace(/\s+/g, ' ').trim())
    .filter((piece) => piece !== '')
}

function addPiece(basket: Basket, piece: string, catalogue: readonly CatalogueProduct[]): void {
  const words = piece.replace(QUANTITY, ' ').replace(/\s+/g, ' ').trim()
  if (words === '') return
  const quantity = readQuantity([...piece.matchAll(QUANTITY)].map((match) => match[1] ?? ''))
  const candidates = findProducts(words, catalogue)
  const [product] = candidates
  if (product === undefined || quantity === undefined || /\d/.test(words)) basket.unknown.push(piece)
  else if (candidates.length > 1) basket.ambiguous.push({ words, candidates })
  else basket.items.push({ product, quantity })
}

/** No number is one; "a couple", "two dozen" and "twenty five" are understood; any other pile of numbers is not. */
function readQuantity(words: readonly string[]): number | undefined {
  const numbers = words.filter((word) => word !== 'a' && word !== 'an' && word !== 'dozen').map((word) => numberOf(word) ?? 0)
  const dozens = words.filter((word) => word === 'dozen').length
  const [first = 1, second, third] = numbers
  if (third !== undefined || dozens > 1 || first < 1) return undefined
  if (second === undefined) return dozens === 1 ? first * 12 : first
  return dozens === 0 && first >= 20 && first % 10 === 0 && second < 10 ? first + second : undefined
}

/** The products that share the most words with the text, none when no word fits. */
function findProducts(words: string, catalogue: readonly CatalogueProduct[]): CatalogueProduct[] {
  const wanted = toStems(words)
  const scored = catalogue.map((product) => {
    const own = new Set(toStems(`${product.id} ${product.name}`))
    return { product, score: wanted.filter((stem) => own.has(stem)).length }
  })
  const best = Math.max(0, ...scored.map(({ score }) => score))
  return best === 0 ? [] : scored.filter(({ score }) => score === best).map(({ product }) => product)
}

const toStems = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []).map((word) => word.replace(/(?<=\p{L}{2})s$/u, ''))

const capitalise = (name: string): string => name.replace(/(^|\s)\p{Ll}/gu, (letter) => letter.toUpperCase())
