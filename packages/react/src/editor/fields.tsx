import type { ApiIssue, JsonValue } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { useId, useState } from 'react'
import { NumberInput } from '../number-input.tsx'
import { fieldText, withLineEnds } from './line-ends.ts'
import { emptyValue, fieldKind, isLongText, type Schema } from './schema.ts'
import { Unseen } from './unseen.tsx'
import { boundOf, boundsText, defaultText, labelOf } from './words.ts'

/** The keyboard of a phone must not write `item-7` as `Item-7`, or curl the quotes of JSON. */
const AS_TYPED = { autoCapitalize: 'none', autoCorrect: 'off', spellCheck: false } as const

export type FieldProps = {
  name: string
  schema: Schema
  value: JsonValue | undefined
  /** `undefined` leaves the value out. */
  onChange: (value: JsonValue | undefined) => void
  /** False while a field holds an incomplete value. */
  onWhole: (path: string, isWhole: boolean) => void
  isRequired: boolean
  path: string
  issues: readonly ApiIssue[]
}

/** Shows one value with its name, its hints and its errors. */
function Field(props: FieldProps) {
  const { name, schema, value, onChange, isRequired, path, issues } = props
  const kind = fieldKind(schema)
  const id = useId()
  const own = issues.filter((issue) => issue.path === path)
  const label = showInvisible(labelOf(name, schema))
  const hints = [schema.description ?? '', boundsText(schema), defaultText(schema)]
    .map((text) => text.trim().replace(/\.$/, ''))
    .filter((text) => text !== '')
    .join('. ')
  const title = (
    <>
      {label}
      {isRequired ? '' : <span className="cs-note"> (optional)</span>}
    </>
  )
  const below = (
    <>
      {hints !== '' && (
        <p id={`${id}-hint`} className="cs-note">
          {showInvisible(hints)}
        </p>
      )}
      {own.length > 0 && (
        <p id={`${id}-issue`} className="cs-field-issue">
          {own.map(({ message }) => showInvisible(message)).join(' ')}
        </p>
      )}
    </>
  )
  if (value === undefined) {
    return (
      <div className="cs-edit-field">
        <span className="cs-edit-name">{title}</span>
        <button type="button" className="cs-button cs-small" onClick={() => onChange(emptyValue(schema))}>
          Add {label}
        </button>
        {below}
      </div>
    )
  }
  const remove = isRequired ? null : (
    <button type="button" className="cs-button cs-small cs-quiet" onClick={() => onChange(undefined)}>
      Leave out {label}
    </button>
  )
  if (kind === 'object' || kind === 'list') {
    return (
      <fieldset className="cs-edit-field cs-edit-group" data-testid={`field-${path}`}>
        <legend>{title}</legend>
        {below}
        {kind === 'object' ? <Properties {...props} /> : <Entries {...props} />}
        {remove}
      </fieldset>
    )
  }
  const described = [hints !== '' && `${id}-hint`, own.length > 0 && `${id}-issue`].filter(Boolean).join(' ') || undefined
  return (
    <div className="cs-edit-field">
      <label htmlFor={id} className="cs-edit-name">
        {title}
      </label>
      <Control {...props} id={id} described={described} isWrong={own.length > 0} />
      {below}
      {remove}
    </div>
  )
}

const objectOf = (value: JsonValue | undefined): Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

/** Shows the properties of an object. Properties that the schema does not name are kept unchanged. */
export function Properties({ schema, value, onChange, path, ...rest }: Omit<FieldProps, 'name' | 'isRequired'>) {
  const held = objectOf(value)
  const properties = schema.properties ?? {}
  const names = [...new Set([...Object.keys(properties), ...Object.keys(held)])]
  return names.map((name) => (
    <Field
      key={name}
      {...rest}
      name={name}
      schema={properties[name] ?? {}}
      value={Object.hasOwn(held, name) ? held[name] : undefined}
      isRequired={schema.required?.includes(name) ?? false}
      path={`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
      onChange={(changed) => {
        const { [name]: _, ...others } = held
        onChange(changed === undefined ? others : { ...held, [name]: changed })
      }}
    />
  ))
}

function Entries({ schema, value, onChange, path, ...rest }: FieldProps) {
  const entries = Array.isArray(value) ? value : []
  const item = schema.items ?? {}
  return (
    <>
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry of a list is its place
        <div key={at} className="cs-edit-entry">
          <Field
            {...rest}
            name={`${rest.name} ${at + 1}`}
            schema={item}
            value={entry}
            isRequired
            path={`${path}/${at}`}
            onChange={(changed) => onChange(entries.map((other, place) => (place === at ? (changed ?? null) : other)))}
          />
          <button type="button" className="cs-button cs-small" onClick={() => onChange(entries.filter((_, place) => place !== at))}>
            Remove {showInvisible(rest.name)} {at + 1}
          </button>
        </div>
      ))}
      <button type="button" className="cs-button cs-small" onClick={() => onChange([...entries, emptyValue(item)])}>
        Add an entry
      </button>
    </>
  )
}

type ControlProps = FieldProps & { id: string; described: string | undefined; isWrong: boolean }

function Control({ schema, value, onChange, onWhole, path, id, described, isWrong }: ControlProps) {
  const common = { id, 'aria-describedby': described, 'aria-invalid': isWrong }
  switch (fieldKind(schema)) {
    case 'locked':
      return <input {...common} readOnly value={showInvisible(typeof value === 'string' ? value : JSON.stringify(value))} />
    case 'choice': {
      const texts = (schema.enum ?? []).map((each) => JSON.stringify(each))
      const held = JSON.stringify(value)
      return (
        <select {...common} value={held} onChange={({ currentTarget }) => onChange(JSON.parse(currentTarget.value))}>
          {[...(texts.includes(held) ? [] : [held]), ...texts].map((text) => (
            <option key={text} value={text}>
              {showInvisible(String(JSON.parse(text)))}
            </option>
          ))}
        </select>
      )
    }
    case 'switch':
      return (
        <input {...common} type="checkbox" checked={value === true} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      )
    case 'number':
      if (typeof value !== 'number') break
      return <NumberField {...common} schema={schema} value={value} onChange={onChange} onWhole={(isWhole) => onWhole(path, isWhole)} />
    case 'text': {
      if (typeof value !== 'string') break
      const bounds = { minLength: schema.minLength, maxLength: schema.maxLength }
      const Text = isLongText(value, schema) ? 'textarea' : 'input'
      return (
        <>
          {/* Long texts are prose, which a phone may help with. */}
          <Text
            {...common}
            {...bounds}
            {...(Text === 'input' && AS_TYPED)}
            value={fieldText(value)}
            onChange={({ currentTarget }) => onChange(withLineEnds(value, currentTarget.value))}
          />
          <Unseen text={value} />
        </>
      )
    }
    default:
  }
  // The value has an unexpected type or a type without a field. Editing it as JSON loses nothing.
  return <JsonField {...common} value={value} onChange={onChange} onWhole={(isWhole) => onWhole(path, isWhole)} />
}

type TextFieldProps<Value> = {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
  value: Value
  onChange: (value: JsonValue) => void
  onWhole: (isWhole: boolean) => void
}

/** Keeps the typed text until it is a complete number. */
function NumberField({ schema, value, onChange, onWhole, ...rest }: TextFieldProps<number> & { schema: Schema }) {
  const [text, setText] = useState(String(value))
  const isOwn = Number(text) === value || Number.isNaN(Number(text)) || text.trim() === ''
  return (
    <NumberInput
      {...rest}
      step={schema.type === 'integer' ? 1 : 'any'}
      min={boundOf(schema.minimum)}
      max={boundOf(schema.maximum)}
      value={isOwn ? text : String(value)}
      onChange={({ currentTarget }) => {
        const given = currentTarget.valueAsNumber
        setText(currentTarget.value)
        onWhole(Number.isFinite(given))
        if (Number.isFinite(given)) onChange(given)
      }}
    />
  )
}

/** Edits a value as JSON when no other field supports it. */
export function JsonField({ value, onChange, onWhole, ...rest }: TextFieldProps<JsonValue | undefined>) {
  const [text, setText] = useState(JSON.stringify(value, null, 2))
  const [isWhole, setWhole] = useState(true)
  // Removing an earlier entry changes the value of this field, so the text is updated to match what will be sent.
  const shown = isWhole && JSON.stringify(parse(text)) !== JSON.stringify(value) ? JSON.stringify(value, null, 2) : text
  return (
    <>
      <textarea
        {...rest}
        aria-invalid={rest['aria-invalid'] || !isWhole}
        className="cs-edit-json"
        rows={Math.min(14, shown.split('\n').length + 1)}
        {...AS_TYPED}
        value={shown}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          const parsed = parse(currentTarget.value)
          setWhole(parsed !== undefined)
          onWhole(parsed !== undefined)
          if (parsed !== undefined) onChange(parsed)
        }}
      />
      <Unseen text={shown} />
    </>
  )
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
