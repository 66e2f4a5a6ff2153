import { showInvisible } from '@countersign/react'
import { type ReactNode, useId } from 'react'
import { Options } from '../ui/index.ts'
import { fieldPath, type RuleField, type RuleFields } from './rule-text.ts'
import { type Remark, remarksAt } from './use-policy-check.ts'

/** The rule that a form edits, with what the server says about it. */
export interface EditedRule {
  rule: RuleFields
  index: number
  problems: readonly Remark[]
  warnings: readonly Remark[]
  onField: (field: RuleField, value: string) => void
  /** A note that parts of the rule are left out, and with which verdict they return. */
  leftOut: string | undefined
}

type ControlProps = {
  id: string
  value: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
  onChange: (event: { currentTarget: { value: string } }) => void
}

type FormFieldProps = {
  of: EditedRule
  name: RuleField
  label: string
  /** Help text or an error, below the control. */
  hint?: string | undefined
  isWide?: boolean
  children: (props: ControlProps) => ReactNode
}

/** A control for one part of a rule, with its label and what the server says about it. */
export function FormField({ of, name, label, hint, isWide = false, children }: FormFieldProps) {
  const id = useId()
  const path = fieldPath(of.index, name)
  const [problems, warnings] = [remarksAt(of.problems, path), remarksAt(of.warnings, path)]
  const described = [hint && `${id}-hint`, problems.length > 0 && `${id}-problem`, warnings.length > 0 && `${id}-warning`]
  return (
    <div className={isWide ? 'filters-wide labelled' : 'labelled'}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        value: of.rule[name],
        'aria-invalid': problems.length > 0,
        'aria-describedby': described.filter(Boolean).join(' ') || undefined,
        onChange: ({ currentTarget }) => of.onField(name, currentTarget.value),
      })}
      {hint && (
        <span id={`${id}-hint`} className="muted">
          {hint}
        </span>
      )}
      {problems.length > 0 && (
        <span id={`${id}-problem`} className="field-issue">
          {showInvisible(problems.map(({ message }) => message).join('; '))}
        </span>
      )}
      {warnings.length > 0 && (
        <span id={`${id}-warning`} className="field-warning">
          {warnings.map(({ message }) => `The rule ${showInvisible(message)}`).join('; ')}
        </span>
      )}
    </div>
  )
}

/** The options of a list of choices; one that the text holds and the list does not stays until somebody chooses another. */
export function RuleOptions({ value, of }: { value: string; of: readonly (readonly [string, string])[] }) {
  return (
    <>
      {!of.some(([each]) => each === value) && <option value={value}>{showInvisible(value) || 'Choose one'}</option>}
      <Options of={of} />
    </>
  )
}
