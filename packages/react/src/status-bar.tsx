import type { Action } from '@countersign/client'
import { showInvisible } from './show-invisible.ts'
import { STATE_WORDS } from './words.ts'

/** Where the action stands, which one it is, which tool, and where it would act. */
export function StatusBar({ action: { state, id, tool, destination } }: { action: Action }) {
  const { mark, word } = STATE_WORDS[state]
  return (
    <p className="cs-bar">
      <strong className="cs-state">
        <span aria-hidden="true" className="cs-mark">
          {mark}
        </span>{' '}
        {word}
      </strong>
      <code>{showInvisible(tool)}</code>
      {destination === '' ? null : <span>{showInvisible(destination)}</span>}
      <span className="cs-note" title={id}>
        #{id.slice(-6)}
      </span>
    </p>
  )
}
