import type { Tool } from '@countersign/core'
import { kinOf, wordsOf } from './words.ts'

/** How much a word counts by where it stands. */
const WEIGHT = { name: 3, summary: 3, path: 1.5, rest: 0.6 } as const
type Field = keyof typeof WEIGHT

/** The weight of a synonym, or of a word with the same beginning, relative to the word itself. */
const KIN = 0.55
const PREFIX = 0.65
const MIN_PREFIX_CHARACTERS = 3
const DEPRECATED = 0.6

interface Entry {
  tool: Tool
  /** The best weight of each of its words. */
  words: Map<string, number>
  /** The words of its name and summary: how much of what it does was asked for. */
  core: Set<string>
  share: number
}

/** Finds tools by words. */
export interface ToolSearch {
  /** The tools that fit best, best first. */
  find(query: string, limit: number): Tool[]
}

/**
 * Reads the tools once. A word that many tools have says little about which one is meant; a tool of which the query names all that it does
 * comes before one that does more.
 */
export function openSearch(tools: readonly Tool[]): ToolSearch {
  const entries = tools.map(readEntry)
  const holders = new Map<string, Set<Entry>>()
  for (const entry of entries) {
    for (const word of entry.words.keys()) {
      const known = holders.get(word)
      if (known) known.add(entry)
      else holders.set(word, new Set([entry]))
    }
  }
  const rarity = (word: string): number => Math.log(1 + entries.length / (1 + (holders.get(word)?.size ?? 0)))
  /** The words of tools that a word of the query stands for, and how well. */
  const meanings = (word: string): [string, number][] => {
    const kin = kinOf(word)
    return [...holders.keys()].flatMap((known): [string, number][] => {
      if (known === word) return [[known, 1]]
      if (kin.has(known)) return [[known, KIN]]
      return word.length >= MIN_PREFIX_CHARACTERS && known.startsWith(word) ? [[known, PREFIX]] : []
    })
  }
  return {
    find(query, limit) {
      const exact = entries.filter(({ tool }) => isNamed(tool, query.trim()))
      const asked = [...new Set(wordsOf(query))].map((word) => ({ word, meant: new Map(meanings(word)) }))
      // A word that no tool has cannot tell them apart.
      const told = asked.filter(({ meant }) => meant.size > 0)
      const ranked = entries
        .map((entry) => ({ entry, score: scoreOf(entry, told, rarity) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score || (a.entry.tool.name < b.entry.tool.name ? -1 : 1))
      return [...new Set([...exact, ...ranked.map(({ entry }) => entry)])].slice(0, limit).map(({ tool }) => tool)
    },
  }
}

const isNamed = ({ name, modelName }: Tool, query: string): boolean => query === name || query === modelName

function scoreOf(
  entry: Entry,
  asked: readonly { word: string; meant: ReadonlyMap<string, number> }[],
  rarity: (word: string) => number,
): number {
  let score = 0
  let found = 0
  let wanted = 0
  const covered = new Set<string>()
  for (const { word, meant } of asked) {
    const worth = rarity(word)
    wanted += worth
    let best = 0
    let near = 0
    for (const [known, quality] of meant) {
      const weight = entry.words.get(known)
      if (weight === undefined) continue
      if (entry.core.has(known)) covered.add(known)
      best = Math.max(best, weight * quality * rarity(known))
      near = Math.max(near, Math.min((weight * quality) / WEIGHT.path, 1))
    }
    score += best
    found += near * worth
  }
  if (score === 0) return 0
  const coverage = found / wanted
  const precision = entry.core.size === 0 ? 0 : covered.size / entry.core.size
  return score * (0.3 + coverage ** 2) * (0.3 + precision) * entry.share
}

/** The request of a tool, at the end of its description: `GET /orders/{id}`. */
const REQUEST = /\b[A-Z]{3,7} (\/\S*)$/

function readEntry(tool: Tool): Entry {
  const request = REQUEST.exec(tool.description)
  const path = request?.[1] ?? ''
  const about = tool.description.slice(0, request?.index).trimEnd()
  const isDeprecated = about.startsWith('Deprecated.')
  const [summary = '', ...rest] = about.replace(/^Deprecated\.\s*/, '').split(/(?<=[.!?])\s/)
  const texts: Record<Field, string> = { name: tool.name, summary, path, rest: rest.join(' ') }
  const words = new Map<string, number>()
  for (const field of Object.keys(texts) as Field[]) {
    for (const word of wordsOf(texts[field])) words.set(word, Math.max(words.get(word) ?? 0, WEIGHT[field]))
  }
  return { tool, words, core: new Set([...wordsOf(texts.name), ...wordsOf(summary)]), share: isDeprecated ? DEPRECATED : 1 }
}
