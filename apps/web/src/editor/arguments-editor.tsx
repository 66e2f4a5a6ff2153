import type { JsonValue } from '@countersign/client'
import type { EditorSlot } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useServices } from '../services.tsx'
import './editor.css'
import { JsonField, Properties } from './fields.tsx'
import type { Schema } from './schema.ts'

/** Edits the arguments of a call, in a form built from the tool's schema or as JSON. The server validates the result. */
export default function ArgumentsEditor({ action, value, onChange, issues }: EditorSlot) {
  const { client } = useServices()
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools({ signal }), staleTime: 60_000 })
  const schema: Schema | undefined = tools.data?.find(({ name }) => name === action.tool)?.inputSchema
  const [asJson, setAsJson] = useState(false)
  const broken = useRef(new Set<string>())
  const latest = useRef(value)
  const id = useId()
  const whole = (path: string, isWhole: boolean) => {
    if (isWhole) broken.current.delete(path)
    else broken.current.add(path)
    onChange(broken.current.size === 0 ? latest.current : undefined)
  }
  const take = (changed: JsonValue | undefined) => {
    if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return whole('', false)
    latest.current = changed
    // A removed entry no longer counts as incomplete.
    for (const path of broken.current) if (path === '' || !isThere(changed, path)) broken.current.delete(path)
    onChange(broken.current.size === 0 ? changed : undefined)
  }
  latest.current = value
  /** Switching between form and JSON starts from the last complete value. */
  const show = (json: boolean) => {
    broken.current.clear()
    onChange(latest.current)
    setAsJson(json)
  }

  if (tools.isPending) return <p className="muted">Reading the tool’s schema…</p>
  const canForm = schema?.properties !== undefined
  const showsForm = canForm && !asJson
  return (
    <div className="arguments-editor" data-testid="arguments-editor">
      {canForm ? (
        <fieldset className="editor-tabs">
          <legend className="visually-hidden">Edit as</legend>
          {(['Form', 'JSON'] as const).map((name) => (
            <label key={name}>
              <input type="radio" name={`${id}-as`} checked={(name === 'JSON') === asJson} onChange={() => show(name === 'JSON')} />
              {name}
            </label>
          ))}
        </fieldset>
      ) : (
        <p className="muted">The form does not support this tool’s schema.</p>
      )}
      {showsForm ? (
        <Properties schema={schema} value={value} onChange={take} onWhole={whole} path="" issues={issues} />
      ) : (
        <div className="field">
          <label htmlFor={`${id}-json`} className="field-name">
            Arguments as JSON
          </label>
          <JsonField
            id={`${id}-json`}
            aria-describedby={undefined}
            aria-invalid={issues.length > 0}
            value={value}
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
