import type { JsonValue, TestedCall } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useServices } from '../services.tsx'
import { handleSubmit, textOf } from '../ui/form.ts'
import { Button, Options } from '../ui/index.ts'
import { Problems } from './problems.tsx'

const VERDICT_WORDS = { allow: 'It would run without asking', ask: 'It would need approval', deny: 'It would be denied' } as const

type Call = { tool: string; arguments: Record<string, JsonValue>; agent?: string }

/** Evaluates policy for a pasted call: the version in force, and the edited text beside it. Proposes nothing. */
export function CallTest({ document }: { document: string | undefined }) {
  const { client } = useServices()
  const id = useId()
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools({ signal }), staleTime: 60_000 })
  const [wrong, setWrong] = useState('')
  const test = useMutation({
    mutationFn: async ({ call, document }: { call: Call; document: string | undefined }) => {
      const inForce = await client.policy.test({ call })
      return { inForce, edited: document === undefined ? undefined : await client.policy.test({ call, document }) }
    },
  })
  // An answer about an earlier text does not hold for this one.
  const isOfThis = test.variables?.document === document
  const submit = handleSubmit((data) => {
    const agent = textOf(data, 'agent')
    const args = parseArguments(String(data.get('arguments')))
    setWrong(args ? '' : 'The arguments are not a JSON object.')
    if (args) test.mutate({ call: { tool: String(data.get('tool')), arguments: args, ...(agent !== '' && { agent }) }, document })
  })
  return (
    <section className="panel" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Try a call</h2>
      <form className="filters" onSubmit={submit}>
        <label>
          Tool
          <select name="tool">
            <Options of={tools.data?.map(({ name }) => [name, showInvisible(name)] as const) ?? []} />
          </select>
        </label>
        <label>
          Agent (optional)
          <input name="agent" autoComplete="off" spellCheck={false} />
        </label>
        <label className="filters-wide labelled">
          Arguments as JSON
          <textarea name="arguments" className="mono" rows={4} spellCheck={false} defaultValue="{}" />
        </label>
        <Button type="submit" variant="outlined" disabled={test.isPending}>
          Try it
        </Button>
      </form>
      {wrong !== '' && (
        <p role="alert" className="field-issue">
          {wrong}
        </p>
      )}
      {isOfThis && test.error && <Problems error={test.error} />}
      {isOfThis && test.data && (
        <div role="status" className="stack" data-testid="tested-call">
          <Answer tested={test.data.inForce} title={test.data.edited && 'In force'} />
          {test.data.edited && <Answer tested={test.data.edited} title="With this text" />}
        </div>
      )}
    </section>
  )
}

function parseArguments(text: string): Record<string, JsonValue> | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

type AnswerProps = { tested: TestedCall; title: string | undefined }

function Answer({ tested: { verdict, rule, reason, requires, risk, rules }, title }: AnswerProps) {
  return (
    <div>
      {title !== undefined && <h3>{title}</h3>}
      <p>
        <strong>{VERDICT_WORDS[verdict]}</strong>: rule “{showInvisible(rule)}”. {showInvisible(reason)}
      </p>
      {verdict === 'ask' && (
        <p>
          {requires.quorum === 1 ? 'One approval' : `${requires.quorum} approvals`} by {showInvisible(requires.roles.join(' or '))}
          {requires.notRequester && ', not by who asked'}
          {risk !== null && `; ${risk} risk`}.
        </p>
      )}
      <ul>
        {rules.map(({ rule: name, verdict: says, matches, failed }) => (
          <li key={name}>
            {matches ? '✓ fits' : '– does not fit'}: “{showInvisible(name)}” ({says})
            {failed !== undefined && `. Its condition failed: ${showInvisible(failed)}`}
          </li>
        ))}
      </ul>
    </div>
  )
}
