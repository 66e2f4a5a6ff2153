import { showInvisible } from '@countersign/react'
import { saveFile } from '../ui/save-file.ts'
import { type Figure, partsOf, type Tone } from './figure.ts'
import { valueText } from './words.ts'

/** A cell that a spreadsheet would take for a formula gets an apostrophe. */
const cell = (value: string | number | null): string => {
  const text = String(value ?? '')
  return `"${(typeof value === 'string' && /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** The table as CSV (RFC 4180); times in milliseconds. */
export function csvOf({ of, columns, rows }: Figure): string {
  const head = [of, ...columns.map(({ name, unit }) => (unit === 'ms' ? `${name} (ms)` : name))]
  return [head, ...rows.map(({ name, values }) => [name, ...values])].map((line) => `${line.map(cell).join(',')}\r\n`).join('')
}

const named = (figure: Figure, ending: string): string => `countersign-${figure.id}.${ending}`
const save = (body: Blob, name: string): Promise<void> =>
  saveFile(new Response(body, { headers: { 'content-disposition': `attachment; filename="${name}"` } }))

export const saveCsv = (figure: Figure): Promise<void> => save(new Blob([csvOf(figure)], { type: 'text/csv' }), named(figure, 'csv'))

const WIDTH = 960
const ROW = 44
const PAD = 24

/** The chart as a picture, in the colours of the page: a line for each row, whatever the page draws. */
export async function savePng(figure: Figure): Promise<void> {
  const canvas = document.createElement('canvas')
  const scale = 2
  canvas.width = WIDTH * scale
  canvas.height = (PAD * 2 + 40 + figure.rows.length * ROW) * scale
  const context = canvas.getContext('2d')
  if (!context) return
  context.scale(scale, scale)
  draw(context, figure)
  const body = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (body) await save(body, named(figure, 'png'))
}

function draw(context: CanvasRenderingContext2D, figure: Figure): void {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(`--ui-palette-${name}`).trim()
  const font = getComputedStyle(document.body).fontFamily
  context.fillStyle = colour('background-default')
  context.fillRect(0, 0, context.canvas.width, context.canvas.height)
  context.fillStyle = colour('text-primary')
  context.font = `600 18px ${font}`
  context.fillText(figure.title, PAD, PAD + 14)
  context.font = `13px ${font}`
  figure.rows.forEach((row, at) => {
    const y = PAD + 46 + at * ROW
    const numbers = figure.columns.map(({ name, unit }, column) => `${name} ${valueText(row.values[column] ?? null, unit)}`).join(' · ')
    const space = WIDTH - PAD * 3 - context.measureText(numbers).width
    context.fillStyle = colour('text-primary')
    context.fillText(fitting(context, showInvisible(row.name), Math.max(space, 120)), PAD, y)
    context.fillStyle = colour('text-secondary')
    context.fillText(numbers, Math.max(WIDTH - PAD - context.measureText(numbers).width, PAD * 2 + 120), y)
    let x = PAD
    for (const { tone, share } of partsOf(figure, row)) {
      const width = share * (WIDTH - 2 * PAD)
      context.fillStyle = colour(TONES[tone])
      context.fillRect(x, y + 8, width, 12)
      if (figure.layout === 'stack') x += width
    }
  })
}

/** The colour of each tone; dashboard.css has the same. */
const TONES: Readonly<Record<Tone, string>> = {
  good: 'success-main',
  bad: 'error-main',
  warning: 'warning-main',
  accent: 'primary-main',
  soft: 'surface-selected',
  faint: 'divider',
  muted: 'text-secondary',
}

/** As much of a text as has room, with an ellipsis where it is cut. */
function fitting(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text
  let end = text.length
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) end--
  return `${text.slice(0, end).toWellFormed()}…`
}
