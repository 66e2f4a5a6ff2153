import type { PolicyRuleUse, PolicyRuleUses, PolicyView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { errorText } from '../errors.ts'
import { useServices } from '../services.tsx'
import { useAddress } from '../shell/use-address.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Button, Notice } from '../ui/index.ts'
import { VerdictMark } from '../ui/verdict.tsx'
import { NO_RULE } from './no-rule.ts'
import { RuleMarks } from './rule-marks.tsx'
import { type Rule, ruleSentence } from './rule-words.ts'

/** The rules of the version in force, each in a sentence, with its hits and the marks of those that do nothing. */
export function RuleList({ view, onChange }: { view: PolicyView; onChange: ((name: string) => void) | undefined }) {
  const { client } = useServices()
  const uses = useQuery({ queryKey: ['policy', 'rules', view.version], queryFn: ({ signal }) => client.policy.rules({ signal }) })
  // The answer may be about a version that was saved meanwhile: names are compared, and a rule that is not in it has no numbers.
  const useOf = new Map(uses.data?.items.map((use) => [use.rule, use]))
  const { default: verdict, expires, rules } = view.document
  return (
    <section aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      {uses.isError && (
        <div role="alert">
          <Notice tone="error" action={<Button onClick={() => uses.refetch()}>Try again</Button>}>
            How often each rule decides could not be read. {errorText(uses.error)}
          </Notice>
        </div>
      )}
      <Summary rules={rules} uses={uses.data} />
      <ul className="rows" aria-label="Rules">
        {rules.map((rule) => (
          <RuleRow
            key={rule.name}
            rule={rule}
            use={useOf.get(rule.name)}
            hitsOf={(name) => useOf.get(name)?.hits}
            expires={expires}
            onChange={onChange}
          />
        ))}
        <li className="row-card" data-testid="policy-default">
          <div className="row-head">
            <VerdictMark verdict={verdict} />
            <strong>{NO_RULE}</strong>
            <Hits rule="default" use={uses.data?.default} />
          </div>
          <p>{verdict === 'ask' ? 'All other calls need approval' : 'All other calls are denied'}</p>
        </li>
      </ul>
      {uses.data?.isComplete === false && <p className="muted">The newest million calls are counted.</p>}
    </section>
  )
}

/** How many rules do nothing, so that nobody has to look for them. */
function Summary({ rules, uses }: { rules: readonly Rule[]; uses: PolicyRuleUses | undefined }) {
  if (!uses || rules.length === 0) return null
  const never = uses.items.filter(({ never }) => never !== null).length
  const idle = uses.items.filter(({ never, hits }) => never === null && hits === 0).length
  const conflicts = uses.items.filter(({ conflicts }) => conflicts.length > 0).length
  const text = [
    `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`,
    ...(never > 0 ? [`${never} ${never === 1 ? 'never decides' : 'never decide'}`] : []),
    ...(conflicts > 0 ? [`${conflicts} with a conflict`] : []),
    ...(idle > 0 ? [`${idle} without a call in ${uses.days} days`] : []),
  ]
  return (
    <p className="muted rule-summary" role="status" data-testid="rule-summary">
      {text.join(' · ')}
    </p>
  )
}

type RuleRowProps = {
  rule: Rule
  use: PolicyRuleUse | undefined
  hitsOf: (rule: string) => number | null | undefined
  expires: string | undefined
  onChange: ((name: string) => void) | undefined
}

function RuleRow({ rule, use, hitsOf, expires, onChange }: RuleRowProps) {
  const { params } = useAddress()
  const isMeant = params.get('rule') === rule.name
  const { name, verdict, match, risk } = rule
  const sentence = ruleSentence(rule, expires)
  // The reason of a rule that denies is a sentence of its own.
  const isEnded = risk === undefined && match.when === undefined && /[.!?]$/.test(sentence)
  return (
    <li
      className="row-card"
      data-testid="policy-rule"
      data-never={use?.never != null}
      data-conflict={(use?.conflicts.length ?? 0) > 0}
      aria-current={isMeant ? 'true' : undefined}
      ref={(item) => {
        if (isMeant) item?.scrollIntoView({ block: 'nearest' })
      }}
    >
      <div className="row-head">
        <VerdictMark verdict={verdict} />
        <strong>{showInvisible(name)}</strong>
        <Hits rule={name} use={use} />
        {onChange && (
          <Button aria-label={`Change the rule ${showInvisible(name)}`} onClick={() => onChange(name)}>
            Change
          </Button>
        )}
      </div>
      <p>
        {showInvisible(sentence)}
        {risk !== undefined && `, as ${risk} risk`}
        {match.when !== undefined && (
          <>
            {' '}
            where <code className="mono">{showInvisible(match.when)}</code>
          </>
        )}
        {isEnded ? '' : '.'}
      </p>
      {use && <RuleMarks reach={use} warnings={use.warnings} hitsOf={hitsOf} />}
    </li>
  )
}

/** How often a rule decided, with the way to those calls. Nothing for people who may not read the numbers. */
function Hits({ rule, use }: { rule: string; use: Pick<PolicyRuleUse, 'hits' | 'lastHitAt'> | undefined }) {
  const nowMs = useNow()
  if (use?.hits == null) return null
  if (use.hits === 0 || use.lastHitAt === null) return <span className="badge-text">No calls in 30 days</span>
  const count = use.hits === 1 ? '1 call' : `${use.hits.toLocaleString('en')} calls`
  return (
    <span className="badge-text">
      <Link to={`/history?${new URLSearchParams({ rule })}`} aria-label={`${count} in 30 days by ${showInvisible(rule)}`}>
        {count} in 30 days
      </Link>
      , last{' '}
      <time dateTime={use.lastHitAt} title={fullTime(use.lastHitAt)}>
        {relativeTime(use.lastHitAt, nowMs)}
      </time>
    </span>
  )
}
