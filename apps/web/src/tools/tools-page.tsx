import type { ToolView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress, useTypedParam } from '../shell/use-address.ts'
import { Button, Loaded, Options, SearchInput } from '../ui/index.ts'
import '../ui/pages.css'
import { ToolTable } from './tool-table.tsx'
import { findTools } from './tool-words.ts'
import './tools.css'

/** How many tools are shown at first, and more with each press: a source may have thousands. */
const PAGE = 100

/** `/tools`: every tool that agents may be given, and those whose definition changed since people accepted it. */
export default function ToolsPage() {
  const { client } = useServices()
  const tools = useQuery({ queryKey: ['tools', '', 'use'], queryFn: ({ signal }) => client.tools({ signal, use: true }) })
  const { params, set } = useAddress()
  const { value: text, typed, setTyped } = useTypedParam('q')
  const group = params.get('source') ?? ''
  const groups = [...new Set(tools.data?.map((tool) => tool.group))].sort()
  const changed = tools.data?.filter(({ caution }) => caution !== undefined).length ?? 0
  return (
    <Page title="Tools" subtitle={tools.data && countText(tools.data.length, changed)}>
      <div className="stack wide">
        <PageBanner />
        <form className="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Find by name or words
            <SearchInput typed={typed} onType={setTyped} />
          </label>
          <label>
            Source
            <select value={group} onChange={({ currentTarget }) => set('source', currentTarget.value)}>
              <Options none="All" of={groups.map((name) => [name, showInvisible(name)])} />
            </select>
          </label>
        </form>
        <Loaded of={tools} height={320}>
          {(all) => <ToolList key={`${group} ${text}`} tools={findTools(all, text, group)} hasAny={all.length > 0} />}
        </Loaded>
      </div>
    </Page>
  )
}

function countText(count: number, changed: number): string {
  const all = `${count.toLocaleString('en')} ${count === 1 ? 'tool' : 'tools'}`
  return changed === 0 ? all : `${all}, ${changed} changed`
}

function ToolList({ tools, hasAny }: { tools: readonly ToolView[]; hasAny: boolean }) {
  const [shown, setShown] = useState(PAGE)
  if (tools.length === 0) {
    return (
      <div className="empty" data-testid="tools-empty">
        <h2>{hasAny ? 'No tool matches' : 'No tools yet'}</h2>
        <p>
          {hasAny ? 'Try another word or all sources.' : 'Add a group of tools to the configuration, or let an agent register its own.'}
        </p>
      </div>
    )
  }
  return (
    <>
      <p className="visually-hidden" role="status">
        {tools.length === 1 ? '1 tool found' : `${tools.length} tools found`}
      </p>
      <ToolTable tools={tools.slice(0, shown)} />
      {tools.length > shown && (
        <div className="more">
          <Button variant="outlined" onClick={() => setShown(shown + PAGE)}>
            Show more of {tools.length.toLocaleString('en')}
          </Button>
        </div>
      )}
    </>
  )
}
