import { childPath, LONG_TEXT_CHARS } from '@countersign/core/text'
import { Fragment, type ReactNode } from 'react'
import { LongText } from './long-text.tsx'
import { showInvisible } from './show-text.ts'

/** A value as indented JSON in which nothing is dropped; every long string in it opens by itself. */
export const JsonText = ({ value, path }: { value: unknown; path: string }) => <>{json(value, path, '')}</>

function json(value: unknown, path: string, indent: string): ReactNode {
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) ?? 'null'
    return text.length > LONG_TEXT_CHARS ? <LongText text={text} path={path} inBox /> : showInvisible(text)
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const entries = Object.entries(value)
  if (entries.length === 0) return open + close
  const deeper = `${indent}  `
  return (
    <>
      {open}
      {entries.map(([key, child], index) => (
        <Fragment key={key}>
          {`\n${deeper}`}
          {Array.isArray(value) ? null : `${showInvisible(JSON.stringify(key))}: `}
          {json(child, childPath(path, key), deeper)}
          {index < entries.length - 1 ? ',' : `\n${indent}`}
        </Fragment>
      ))}
      {close}
    </>
  )
}
