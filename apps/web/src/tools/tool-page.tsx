import type { ToolDetails } from '@countersign/client'
import { RISK_WORDS, showInvisible, showLines } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { RawJson } from '../chat/raw-json.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { Fact, Loaded } from '../ui/index.ts'
import '../ui/pages.css'
import { VerdictMark } from '../ui/verdict.tsx'
import { LastCalls } from './last-calls.tsx'
import { ToolChange } from './tool-change.tsx'
import { kindWord, policySentence } from './tool-words.ts'
import './tools.css'

/** `/tools/:name`: one tool, what changed in it, the rules about it and its last calls. */
export default function ToolPage() {
  const { client } = useServices()
  const { name = '' } = useParams()
  const tool = useQuery({ queryKey: ['tools', name], queryFn: ({ signal }) => client.tool(name, { signal }) })
  return (
    <Page title={name} subtitle={tool.data && showInvisible(`${kindWord(tool.data.kind)} ${tool.data.group}`)}>
      <div className="stack" data-testid="tool-page">
        <PageBanner />
        <p>
          <Link to="/tools">All tools</Link>
        </p>
        <Loaded of={tool} height={420}>
          {(found) => (
            <>
              {found.change && <ToolChange tool={found} change={found.change} />}
              <Definition tool={found} />
              {found.policy && <Rules policy={found.policy} usual={found.usual} isChanged={found.change !== null} />}
              <LastCalls tool={found.name} />
              <details className="panel">
                <summary>Arguments (JSON Schema)</summary>
                <RawJson label="As it is checked before a call is proposed" value={found.inputSchema} />
              </details>
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

function Definition({ tool }: { tool: ToolDetails }) {
  const { description, effect, claimedEffect, risk, executor, destination, idempotent, modelName, registeredBy } = tool
  return (
    <section aria-labelledby="definition-title">
      <h2 id="definition-title">Definition</h2>
      <p className="tool-description">{description === '' ? 'It has no description.' : showLines(description)}</p>
      <dl className="fact-grid">
        <Fact name="Effect">
          {effect === 'read' ? 'Reads only' : 'Changes data'}
          {claimedEffect === 'read' && effect === 'write' && ' (its agent says that it only reads, which is not verified)'}
        </Fact>
        <Fact name="Risk">
          {RISK_WORDS[risk.level]}: {showInvisible(risk.reason)}
          {risk.isGuess && ' (not declared)'}
        </Fact>
        <Fact name="Destination">
          <span className="mono">{showInvisible(destination)}</span>
        </Fact>
        <Fact name="Carried out by">{executor === 'server' ? 'This server' : 'The client that asked'}</Fact>
        <Fact name="Sent twice">
          {idempotent ? 'The target does it once' : 'The target may do it twice, so it is never sent again unasked'}
        </Fact>
        <Fact name="Name for models">
          <span className="mono">{showInvisible(modelName)}</span>
        </Fact>
        {registeredBy && <Fact name="Registered by">{showInvisible(registeredBy.name)}</Fact>}
      </dl>
    </section>
  )
}

type RulesProps = { policy: NonNullable<ToolDetails['policy']>; usual: ToolDetails['usual']; isChanged: boolean }

function Rules({ policy, usual, isChanged }: RulesProps) {
  return (
    <section aria-labelledby="rules-title">
      <h2 id="rules-title">Policy</h2>
      <p>
        {isChanged
          ? 'Until the change is accepted, every call that policy allows needs approval.'
          : usual && showInvisible(policySentence(usual))}
      </p>
      <ul className="rule-lines" aria-label="Rules about this tool">
        {policy.rules.map(({ rule, verdict, agent, when }) => (
          <li key={rule} data-testid="tool-rule">
            <VerdictMark verdict={verdict} /> <Link to={`/policy?${new URLSearchParams({ rule })}`}>{showInvisible(rule)}</Link>
            {agent !== undefined && <> for the agent {showInvisible(agent)}</>}
            {when !== undefined && (
              <>
                {' '}
                where <code className="mono">{showInvisible(when)}</code>
              </>
            )}
          </li>
        ))}
        <li>
          <VerdictMark verdict={policy.default} /> where no rule matches
        </li>
      </ul>
    </section>
  )
}
