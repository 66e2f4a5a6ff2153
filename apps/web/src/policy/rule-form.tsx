import type { ApiIssue } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useId, useRef, useState } from 'react'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { addRule, fieldPath, type RuleFields, readRules, removeRule, setField } from './rule-text.ts'

type RuleFormProps = {
  text: string
  onEdit: (text: string) => void
  /** The problems that the server found in the text as it is now. */
  issues: readonly ApiIssue[]
  /** The name of the rule to begin with. */
  first: string | null
}

/** Edits one rule of the document by fields. Each change is made in the text, where everything else stays as it is, comments included. */
export default function RuleForm({ text, onEdit, issues, first }: RuleFormProps) {
  const rules = readRules(text)
  const [chosen, setChosen] = useState(() => Math.max(0, rules?.findIndex(({ name }) => name === first) ?? 0))
  const verdict = useRef<HTMLSelectElement>(null)
  // The button that somebody pressed to change the rule is gone. Most come for another verdict.
  useEffect(() => {
    if (first !== null) verdict.current?.focus()
  }, [first])
  if (!rules) return <p className="muted">The form opens once the text below can be read as a policy.</p>
  const index = Math.min(chosen, rules.length - 1)
  const rule = rules[index]
  return (
    <div className="stack" data-testid="rule-form">
      <div className="row-head">
        <label className="labelled">
          Rule
          <select value={index} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
            {rules.map(({ name }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: names may be alike while somebody edits them
              <option key={at} value={at}>
                {showInvisible(name) || 'without a name'}
              </option>
            ))}
          </select>
        </label>
        <Button
          variant="outlined"
          onClick={() => {
            onEdit(addRule(text))
            setChosen(rules.length)
          }}
        >
          Add a rule
        </Button>
        {rule && (
          <Button
            variant="outlined"
            onClick={() => {
              onEdit(removeRule(text, index))
              setChosen(Math.max(0, index - 1))
            }}
          >
            Remove this rule
          </Button>
        )}
      </div>
      {rule && (
        <Fields
          key={index}
          rule={rule}
          index={index}
          issues={issues}
          verdictRef={verdict}
          onField={(field, value) => onEdit(setField(text, index, field, value))}
        />
      )}
    </div>
  )
}

type FieldsProps = {
  rule: RuleFields
  index: number
  issues: readonly ApiIssue[]
  verdictRef: RefObject<HTMLSelectElement | null>
  onField: (field: keyof RuleFields, value: string) => void
}

const VERDICTS = [
  ['allow', 'Allow: it runs without asking'],
  ['ask', 'Ask: people approve first'],
  ['deny', 'Deny: it does not run'],
] as const

const EFFECTS = [
  ['', 'Any'],
  ['read', 'Only reads'],
  ['write', 'Changes something'],
] as const

function Fields({ rule, index, issues, verdictRef, onField }: FieldsProps) {
  const { client } = useServices()
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools({ signal }), staleTime: 60_000 })
  const id = useId()
  const shown = (Object.keys(rule) as (keyof RuleFields)[]).map((field) => fieldPath(index, field))
  const others = issues.filter(({ path }) => path.startsWith(`rules.${index}.`) && !shown.includes(path))
  const field = (name: keyof RuleFields) => {
    const found = issues.filter(({ path }) => path === fieldPath(index, name)).map(({ message }) => message)
    return {
      props: {
        value: rule[name],
        'aria-invalid': found.length > 0,
        'aria-describedby': found.length > 0 ? `${id}-${name}` : undefined,
        onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onField(name, currentTarget.value),
      },
      issue: found.length > 0 && (
        <span id={`${id}-${name}`} className="field-issue">
          {showInvisible(found.join('; '))}
        </span>
      ),
    }
  }
  const [name, verdict, tool, effect, agent, when, reason] = (
    ['name', 'verdict', 'tool', 'effect', 'agent', 'when', 'reason'] as const
  ).map(field)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not lay its fields out in a grid everywhere
    <div className="filters" role="group" aria-label={`The rule ${showInvisible(rule.name) || 'without a name'}`}>
      <label className="filters-wide labelled">
        Name
        <input {...name?.props} maxLength={200} autoComplete="off" />
        {name?.issue}
      </label>
      <label>
        Tool, or a pattern with *
        <input {...tool?.props} list={`${id}-tools`} maxLength={200} autoComplete="off" spellCheck={false} placeholder="every tool" />
        {tool?.issue}
      </label>
      <datalist id={`${id}-tools`}>
        {tools.data?.map(({ name: each }) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <label>
        Effect
        <select {...effect?.props}>
          <Unknown value={rule.effect} known={EFFECTS} />
          {EFFECTS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        {effect?.issue}
      </label>
      <label>
        Agent
        <input {...agent?.props} maxLength={200} autoComplete="off" spellCheck={false} placeholder="every agent" />
        {agent?.issue}
      </label>
      <label className="filters-wide labelled">
        Condition over the arguments (CEL)
        <textarea {...when?.props} className="mono" rows={2} maxLength={2_000} spellCheck={false} placeholder="args.amount > 500" />
        {when?.issue}
      </label>
      <label>
        Verdict
        <select ref={verdictRef} {...verdict?.props}>
          <Unknown value={rule.verdict} known={VERDICTS} />
          {VERDICTS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        {verdict?.issue}
      </label>
      {(rule.verdict === 'deny' || rule.reason !== '') && (
        <label className="filters-wide labelled">
          Reason that the agent is given
          <input {...reason?.props} maxLength={500} autoComplete="off" />
          {reason?.issue}
        </label>
      )}
      {others.length > 0 && (
        <ul className="filters-wide field-issue">
          {others.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code className="mono">{showInvisible(path)}</code> {showInvisible(message)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A value that the text holds and the list does not: it stays until somebody chooses another one. */
function Unknown({ value, known }: { value: string; known: readonly (readonly [string, string])[] }) {
  return known.some(([each]) => each === value) ? null : <option value={value}>{showInvisible(value) || 'Choose one'}</option>
}
