import type { Client, JsonValue } from '@countersign/client'
import { useEffect, useId, useRef, useState } from 'react'
import type { EditorSlot } from '../edit-section.tsx'
import type { Arguments } from '../edits.ts'
import { JsonField, Properties } from './fields.tsx'
import type { Schema } from './schema.ts'

export type ToolArgumentsEditorProps = EditorSlot & {
  /** Reads the tool's schema. Keep its identity. */
  client: Client
}

/** Reads the schema of the action's tool and edits its arguments: see {@link ArgumentsEditor}. */
export function ToolArgumentsEditor({ client, ...slot }: ToolArgumentsEditorProps) {
  const [schema, setSchema] = useState<Schema | 'none'>()
  const { tool } = slot.action
  useEffect(() => {
    const closing = new AbortController()
    client.tools({ signal: closing.signal }).then(
      (tools) => setSchema(tools.find(({ name }) => name === tool)?.inputSchema ?? 'none'),
      // Without a schema there is still the JSON.
      () => closing.signal.aborted || setSchema('none'),
    )
    return () => closing.abort()
  }, [client, tool])
  if (schema === undefined) return <p className="cs-note">Reading the tool’s schema…</p>
  return <ArgumentsEditor {...slot} schema={schema === 'none' ? undefined : schema} />
}

export type ArgumentsEditorProps = EditorSlot & {
  /** The JSON Schema of the tool's input; without one the arguments are edited as JSON. */
  schema: Schema | undefined
}

/** Edits the arguments of a call, in a form built from the tool's schema or as JSON. The server validates the result. */
export function ArgumentsEditor({ schema, value, onChange, issues }: ArgumentsEditorProps) {
  const [asJson, setAsJson] = useState(false)
  const broken = useRef(new Set<string>())
  // Changes that wait until another field is complete. They hold only for the value that they were made to.
  const [ahead, setAhead] = useState<{ of: Arguments; held: Arguments }>()
  const draft = ahead?.of === value ? ahead.held : value
  const latest = useRef(draft)
  latest.current = draft
  const id = useId()
  const tell = () => {
    const isWhole = broken.current.size === 0
    setAhead(isWhole ? undefined : { of: value, held: latest.current })
    onChange(isWhole ? latest.current : undefined)
  }
  const whole = (path: string, isWhole: boolean) => {
    if (isWhole) broken.current.delete(path)
    else broken.current.add(path)
    tell()
  }
  const take = (changed: JsonValue | undefined) => {
    if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return whole('', false)
    latest.current = changed
    // A removed entry no longer counts as incomplete.
    for (const path of broken.current) if (path === '' || !isThere(changed, path)) broken.current.delete(path)
    tell()
  }
  /** Switching between form and JSON starts from the last complete value. */
  const show = (json: boolean) => {
    broken.current.clear()
    tell()
    setAsJson(json)
  }

  const canForm = schema?.properties !== undefined
  const showsForm = canForm && !asJson
  return (
    <div className="cs-editor" data-testid="arguments-editor">
      {canForm ? (
        <fieldset className="cs-editor-tabs">
          <legend className="cs-hidden">Edit as</legend>
          {(['Form', 'JSON'] as const).map((name) => (
            <label key={name}>
              <input type="radio" name={`${id}-as`} checked={(name === 'JSON') === asJson} onChange={() => show(name === 'JSON')} />
              {name}
            </label>
          ))}
        </fieldset>
      ) : (
        <p className="cs-note">The form does not support this tool’s schema.</p>
      )}
      {showsForm ? (
        <Properties schema={schema} value={draft} onChange={take} onWhole={whole} path="" issues={issues} />
      ) : (
        <div className="cs-edit-field">
          <label htmlFor={`${id}-json`} className="cs-edit-name">
            Arguments as JSON
          </label>
          <JsonField
            id={`${id}-json`}
            aria-describedby={undefined}
            aria-invalid={issues.length > 0}
            value={draft}
            onChange={take}
            onWhole={(isWhole) => whole('', isWhole)}
          />
        </div>
      )}
    </div>
  )
}

/** True when a JSON pointer names something in `value`. */
function isThere(value: JsonValue, pointer: string): boolean {
  let held: JsonValue | undefined = value
  for (const part of pointer.split('/').slice(1)) {
    if (typeof held !== 'object' || held === null) return false
    held = new Map(Object.entries(held)).get(part.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return held !== undefined
}
