import type { ReplayedActions } from '@countersign/client'
import { HeadRow } from '../ui/head-row.tsx'

type Counts = ReplayedActions['was']

/** Verdicts counted before and after, side by side, with what changes. */
export function BeforeAfter({ was, wouldBe, names }: { was: Counts; wouldBe: Counts; names: readonly [before: string, after: string] }) {
  return (
    <table className="counts before-after">
      <HeadRow names={['Verdict', ...names, 'Change']} />
      <tbody>
        {(['allow', 'ask', 'deny'] as const).map((verdict) => (
          <tr key={verdict}>
            <th scope="row">{verdict}</th>
            <td>{was[verdict].toLocaleString('en')}</td>
            <td>{wouldBe[verdict].toLocaleString('en')}</td>
            <td>{changeText(wouldBe[verdict] - was[verdict])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const changeText = (by: number): string => (by === 0 ? '–' : `${by > 0 ? '+' : '−'}${Math.abs(by).toLocaleString('en')}`)
