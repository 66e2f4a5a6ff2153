import { createPart } from '../parts.ts'

/** Colours of code. Nothing waits for them: they change no letter of a diff, and no line of it moves. */
export const CODE = createPart(() => import('./code.ts'))

const LANGUAGES: Readonly<Record<string, string>> = {
  bash: 'bash sh zsh',
  c: 'c cc cpp h hpp',
  css: 'css scss less',
  docker: 'dockerfile',
  go: 'go',
  html: 'html htm vue svelte',
  ini: 'ini cfg conf properties',
  java: 'java kt kts cs scala swift',
  js: 'js jsx mjs cjs',
  json: 'json jsonc',
  py: 'py pyi',
  rs: 'rs',
  sql: 'sql',
  toml: 'toml',
  ts: 'ts tsx mts cts',
  xml: 'xml svg',
  yaml: 'yaml yml',
}

/** The language of the file that a unified diff changes, by its name; undefined for prose and for names that say nothing. */
export function languageOf(diff: string): string | undefined {
  const [head = ''] = diff.split('\n@@', 1)
  const ending = /^\+\+\+ (?:.*[./])?([A-Za-z]+)\t?$/m.exec(head)?.[1]?.toLowerCase()
  return Object.keys(LANGUAGES).find((language) => ending !== undefined && LANGUAGES[language]?.split(' ').includes(ending))
}
