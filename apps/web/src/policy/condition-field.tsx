import type { PolicyNames } from '@countersign/client'
import { isComposing, showInvisible } from '@countersign/react'
import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../ui/index.ts'
import { type Completion, complete } from './complete.ts'
import type { Remark } from './use-policy-check.ts'
import './condition-field.css'

type ConditionFieldProps = {
  value: string
  onChange: (value: string) => void
  /** The names that it may use; undefined until they are known. */
  names: PolicyNames | undefined
  /** Called when somebody comes to the field, so that the names are there when they are needed. */
  onFocus: () => void
  problems: readonly Remark[]
  warnings: readonly Remark[]
}

/**
 * The condition of a rule, with a list of the names that fit at the caret. It is a text box with a list and not a combobox, because a
 * combobox has one line. The first suggestion is not marked by itself: Enter is a new line until somebody goes down into the list.
 */
export function ConditionField({ value, onChange, names, onFocus, problems, warnings }: ConditionFieldProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const list = useSuggestions({ value, onChange, names, field })
  const remarks = [...problems, ...warnings]
  return (
    <div className="filters-wide condition">
      <label htmlFor={`${id}-when`}>Condition over the arguments (CEL)</label>
      <div className="condition-box">
        <textarea
          ref={field}
          id={`${id}-when`}
          className="mono"
          rows={Math.min(8, Math.max(2, value.split('\n').length))}
          maxLength={2_000}
          spellCheck={false}
          autoCapitalize="off"
          placeholder="args.amount > 500"
          value={value}
          aria-invalid={problems.length > 0}
          aria-describedby={[`${id}-keys`, ...remarks.map((_, at) => `${id}-remark-${at}`)].join(' ')}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={list.items.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={list.marked === undefined ? undefined : `${id}-${list.marked}`}
          onFocus={onFocus}
          onBlur={list.close}
          onClick={list.close}
          onChange={({ currentTarget }) => {
            onChange(currentTarget.value)
            list.openAt(currentTarget.selectionStart)
          }}
          onKeyDown={list.onKeyDown}
        />
        {list.items.length > 0 && <SuggestionList id={id} items={list.items} marked={list.marked} onChoose={list.choose} />}
      </div>
      <span role="status" className="visually-hidden">
        {list.items.length > 0 && `${list.items.length} ${list.items.length === 1 ? 'suggestion' : 'suggestions'}, press down to choose`}
      </span>
      <span id={`${id}-keys`} className="muted condition-keys">
        Ctrl + Space lists the names that fit
      </span>
      {remarks.map((remark, at) => (
        <RemarkLine
          key={`${remark.message} ${remark.at}`}
          id={`${id}-remark-${at}`}
          remark={remark}
          isProblem={at < problems.length}
          value={value}
          field={field}
        />
      ))}
    </div>
  )
}

type SuggestionListProps = { id: string; items: readonly Completion[]; marked: number | undefined; onChoose: (item: Completion) => void }

function SuggestionList({ id, items, marked, onChoose }: SuggestionListProps) {
  return (
    <div id={`${id}-list`} role="listbox" aria-label="Suggestions" className="condition-list">
      {items.map((item, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are on the field
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
        <div
          key={item.text}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === marked}
          ref={(option) => {
            if (at === marked) option?.scrollIntoView({ block: 'nearest' })
          }}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(item)}
        >
          <code className="mono">{showInvisible(item.text)}</code>
          <span className="condition-more">{showInvisible(item.more)}</span>
        </div>
      ))}
    </div>
  )
}

type Suggesting = Pick<ConditionFieldProps, 'value' | 'onChange' | 'names'> & { field: RefObject<HTMLTextAreaElement | null> }

/** The list at the caret: what is in it, which suggestion is marked, and the keys. */
function useSuggestions({ value, onChange, names, field }: Suggesting) {
  /** The caret for which the list is open. `isAsked`: by a key, so that it also opens before anything is written. */
  const [open, setOpen] = useState<{ caret: number; isAsked: boolean }>()
  const [marked, setMarked] = useState<number>()
  const caret = useRef<number>(undefined)
  // A text that is set moves the caret to its end.
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  })
  const found = open && names ? complete(value, open.caret, names) : undefined
  const items = found && (found.isBegun || open?.isAsked) ? found.items : []
  const at = marked === undefined || items.length === 0 ? undefined : Math.min(marked, items.length - 1)

  const openAt = (place: number, isAsked = false) => {
    setOpen({ caret: place, isAsked })
    setMarked(isAsked ? 0 : undefined)
  }
  const close = () => setOpen(undefined)

  function choose(item: Completion) {
    if (!found) return
    caret.current = found.from + item.caret
    onChange(value.slice(0, found.from) + item.text + value.slice(found.to))
    close()
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    const { key, currentTarget, ctrlKey, altKey } = event
    const item = at === undefined ? undefined : items[at]
    if ((key === ' ' && ctrlKey) || (key === 'ArrowDown' && altKey)) openAt(currentTarget.selectionStart, true)
    else if (items.length === 0) return
    else if (key === 'ArrowDown') setMarked(at === undefined ? 0 : (at + 1) % items.length)
    else if (key === 'ArrowUp') setMarked(at === undefined ? items.length - 1 : (at + items.length - 1) % items.length)
    else if (key === 'Escape') close()
    else if (key === 'Enter' && item && !isComposing(event)) choose(item)
    else {
      // The caret leaves the place that the list is for.
      if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key)) close()
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }

  return { items, marked: at, openAt, close, choose, onKeyDown }
}

type RemarkLineProps = {
  id: string
  remark: Remark
  isProblem: boolean
  value: string
  field: RefObject<HTMLTextAreaElement | null>
}

/** Characters around a place that are shown with it. */
const AROUND = 24

/** A problem of the condition, with the place marked in a copy of the text: a text box cannot mark a part of its own. */
function RemarkLine({ id, remark: { message, at }, isProblem, value, field }: RemarkLineProps) {
  const word = at === null ? '' : (/^\w[\w.]*|^[\s\S]/.exec(value.slice(at))?.[0] ?? '')
  return (
    <div className={isProblem ? 'condition-remark field-issue' : 'condition-remark field-warning'}>
      <span id={id}>
        {isProblem ? '' : 'The rule '}
        {showInvisible(message)}
      </span>
      {at !== null && (
        <>
          <code className="mono" aria-hidden="true">
            {at > AROUND && '…'}
            {showInvisible(value.slice(Math.max(0, at - AROUND), at))}
            <mark>{showInvisible(word) || ' '}</mark>
            {showInvisible(value.slice(at + word.length, at + word.length + AROUND))}
            {at + word.length + AROUND < value.length && '…'}
          </code>
          <Button
            onClick={() => {
              field.current?.focus()
              field.current?.setSelectionRange(at, at + word.length)
            }}
          >
            Go to character {at + 1}
          </Button>
        </>
      )}
    </div>
  )
}
