import { HEAD_CHARS, LONG_TEXT_CHARS, TAIL_CHARS, valueText } from '@countersign/core/text'
import type { ReactNode } from 'react'
import { FoldedText } from './folded-text.tsx'
import { columnsOf, LinesTable } from './lines-table.tsx'
import { entriesText, OpenedList } from './opened-list.tsx'
import { itemsOf, PlainList } from './plain-list.tsx'
import { RevealButton, useReveal } from './reveal.tsx'
import { type Against, Whole } from './shown-text.tsx'

type ListValueProps = { value: readonly unknown[]; other: unknown; path: string; against: Against | undefined }

/** A list in a preview: lines of plain values as a table where they stand alone, texts and numbers one by one, everything else as JSON. */
export function ListValue({ value, other, path, against }: ListValueProps) {
  const table = other === undefined ? columnsOf(value) : undefined
  if (table) {
    const { lines, columns } = table
    return <List entries={lines} path={path} draw={(some) => <LinesTable lines={some} columns={columns} />} />
  }
  const items = other === undefined || Array.isArray(other) ? itemsOf(value) : undefined
  if (items) return <List entries={items} path={path} draw={(some) => <PlainList items={some} kept={itemsOf(other)} />} />
  const text = valueText(value)
  const Text = text.length > LONG_TEXT_CHARS ? FoldedText : Whole
  return <Text text={text} path={path} against={against} />
}

type ListProps<Entry> = {
  entries: readonly Entry[]
  path: string
  /** Draws the first of the entries, or all of them. */
  draw: (entries: readonly Entry[]) => ReactNode
}

/**
 * Shows a list whole when its JSON is short, and otherwise its first entries above a button that says how many are hidden. The opened
 * list takes the focus, and a very long one scrolls in a box.
 */
function List<Entry>({ entries, path, draw }: ListProps<Entry>) {
  const { isOpen, box, reveal } = useReveal<HTMLDivElement>(path)
  const chars = valueText(entries).length
  if (chars <= LONG_TEXT_CHARS) return draw(entries)
  if (!isOpen) {
    const shown = headOf(entries)
    return (
      <>
        {draw(entries.slice(0, shown))}
        <RevealButton path={path} hidden={entriesText(entries.length - shown)} onReveal={reveal} />
      </>
    )
  }
  return (
    <OpenedList box={box} path={path} chars={chars} count={entries.length}>
      {draw(entries)}
    </OpenedList>
  )
}

/**
 * Returns how many entries are shown at first: as much of the JSON as of a long text, which is what `hiddenParts` counts as shown. At least
 * one entry stays hidden, because the button opens the list.
 */
function headOf(entries: readonly unknown[]): number {
  let [count, chars] = [0, 0]
  while (count < entries.length - 1 && chars < HEAD_CHARS + TAIL_CHARS) chars += valueText(entries[count++]).length
  return count
}
