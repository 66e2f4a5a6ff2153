import type { PolicyNamesQuery } from '@countersign/core'
import { showInvisible } from '@countersign/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type RefObject, useId, useState } from 'react'
import { useServices } from '../services.tsx'
import { ConditionField } from './condition-field.tsx'
import { type EditedRule, FormField, RuleOptions } from './form-field.tsx'
import { RuleMore } from './rule-more.tsx'
import { fieldPath, type RuleFields } from './rule-text.ts'
import { remarksAt } from './use-policy-check.ts'
import { useSettled } from './use-settled.ts'

type FieldsProps = {
  of: EditedRule
  /** The time to decide of the document, where a rule sets none. */
  expires: string | undefined
  verdictRef: RefObject<HTMLSelectElement | null>
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

/** The fields of one rule. */
export function RuleFieldset({ of, expires, verdictRef }: FieldsProps) {
  const { client } = useServices()
  const { rule, index, problems, warnings, onField } = of
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools({ signal }), staleTime: 60_000 })
  const names = useNames(rule)
  const id = useId()
  const when = fieldPath(index, 'when')
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not lay its fields out in a grid everywhere
    <div className="filters" role="group" aria-label={`The rule ${showInvisible(rule.name) || 'without a name'}`}>
      <FormField of={of} name="name" label="Name" isWide>
        {(props) => <input {...props} maxLength={200} autoComplete="off" />}
      </FormField>
      <FormField of={of} name="tool" label="Tool, or a pattern with *">
        {(props) => (
          <input {...props} list={`${id}-tools`} maxLength={200} autoComplete="off" spellCheck={false} placeholder="every tool" />
        )}
      </FormField>
      <datalist id={`${id}-tools`}>
        {tools.data?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <FormField of={of} name="effect" label="Effect">
        {(props) => (
          <select {...props}>
            <RuleOptions value={rule.effect} of={EFFECTS} />
          </select>
        )}
      </FormField>
      <FormField of={of} name="agent" label="Agent">
        {(props) => <input {...props} maxLength={200} autoComplete="off" spellCheck={false} placeholder="every agent" />}
      </FormField>
      <ConditionField
        value={rule.when}
        onChange={(value) => onField('when', value)}
        names={names.known}
        onFocus={names.ask}
        problems={remarksAt(problems, when)}
        warnings={remarksAt(warnings, when)}
      />
      <FormField of={of} name="verdict" label="Verdict" hint={of.leftOut}>
        {(props) => (
          <select ref={verdictRef} {...props}>
            <RuleOptions value={rule.verdict} of={VERDICTS} />
          </select>
        )}
      </FormField>
      {(rule.verdict === 'deny' || rule.reason !== '') && (
        <FormField of={of} name="reason" label="Reason that the agent is given" isWide>
          {(props) => <input {...props} maxLength={500} autoComplete="off" />}
        </FormField>
      )}
      <RuleMore of={of} expires={expires} />
      <OtherProblems of={of} />
    </div>
  )
}

/** The names that the condition may use, once somebody comes to it. */
function useNames({ tool, effect, verdict }: RuleFields) {
  const { client } = useServices()
  const [isAsked, setAsked] = useState(false)
  const settledTool = useSettled(tool)
  const query: PolicyNamesQuery = {
    ...(settledTool !== '' && { tool: settledTool }),
    ...((effect === 'read' || effect === 'write') && { effect }),
    ...((verdict === 'allow' || verdict === 'deny') && { verdict }),
  }
  const { data } = useQuery({
    queryKey: ['policy-names', query],
    queryFn: ({ signal }) => client.policy.names(query, { signal }),
    enabled: isAsked,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return { known: data, ask: () => setAsked(true) }
}

/** The problems of a rule that are about none of the fields. */
function OtherProblems({ of: { rule, index, problems } }: { of: EditedRule }) {
  const shown = (Object.keys(rule) as (keyof RuleFields)[]).map((field) => fieldPath(index, field))
  const others = problems.filter(
    ({ path }) =>
      path.startsWith(`rules.${index}.`) && !shown.some((field) => remarksAt([{ path, message: '', at: null }], field).length > 0),
  )
  if (others.length === 0) return null
  return (
    <ul className="filters-wide field-issue">
      {others.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <code className="mono">{showInvisible(path)}</code> {showInvisible(message)}
        </li>
      ))}
    </ul>
  )
}
