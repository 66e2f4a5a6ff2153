import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { useWaiting } from '../live/use-waiting.ts'
import { useServices } from '../services.tsx'
import { placesFor } from '../shell/places.ts'
import { toolPath } from '../tools/tool-path.ts'
import type { IconName } from '../ui/index.ts'
import { useCommands } from './commands.tsx'
import { controlsOf } from './controls.ts'
import { useEverywhere } from './use-everywhere.ts'

/** A result of the palette: a page, or a command. */
export type Found = { key: string; kind: string; name: string; more?: string; icon: IconName } & ({ to: string } | { run: () => void })

/** Of each kind at most. */
const MOST = 6
const ASKED_FROM_CHARS = 2

const FIXED: readonly { to: string; name: string; icon: IconName }[] = [
  { to: '/waiting', name: 'Inbox', icon: 'inbox' },
  { to: '/waiting?view=snoozed', name: 'Snoozed actions', icon: 'clock' },
  { to: '/', name: 'New chat', icon: 'plus' },
  { to: '/consoles', name: 'Where you are signed in', icon: 'user' },
]

/**
 * Searches for the words. The commands of the current page come first, then pages, waiting actions, the commands of every page and the buttons
 * of this one; sessions, tools, rules and people follow when the server has answered. No result decides anything.
 */
export function useFound(text: string): { found: readonly Found[]; isAsking: boolean } {
  const { client, me, keepsObjectives } = useServices()
  const { items } = useWaiting()
  const commands = useCommands()
  const everywhere = useEverywhere()
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean)
  const has = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word))
  const q = text.trim()
  const isAsked = q.length >= ASKED_FROM_CHARS

  const sessions = useQuery({
    queryKey: ['palette', 'sessions', q],
    enabled: isAsked,
    queryFn: ({ signal }) => client.sessions.list({ q, limit: MOST }, { signal }),
  })
  const tools = useQuery({ queryKey: ['palette', 'tools'], enabled: isAsked, queryFn: ({ signal }) => client.tools({ signal }) })
  const policy = useQuery({
    queryKey: ['palette', 'policy'],
    enabled: isAsked && me.roles.length > 0,
    queryFn: ({ signal }) => client.policy.get({ signal }),
  })
  const people = useQuery({
    queryKey: ['palette', 'people', q],
    enabled: isAsked && me.roles.includes('admin'),
    queryFn: ({ signal }) => client.people.list({ q }, { signal }),
  })

  const pages = [...FIXED, ...placesFor(me, keepsObjectives)]
    .filter(({ name }) => has(name))
    .map((place) => ({ ...place, key: place.to, kind: 'Page' }))
  const found: Found[] = [
    ...commands
      .filter(({ name }) => has(name))
      .map(({ name, run }) => ({ key: name, kind: 'This page', name, icon: 'check' as const, run })),
    ...pages.slice(0, words.length === 0 ? pages.length : MOST),
    ...(words.length === 0
      ? []
      : items
          .filter((action) => has(`${action.description} ${action.tool}`))
          .slice(0, MOST)
          .map(ofAction)),
    ...(words.length === 0 ? [] : everywhere.filter(({ name }) => has(name)).map((one) => ({ ...one, key: `everywhere ${one.name}` }))),
  ]
  if (words.length > 0) {
    const named = new Set(found.map(({ name }) => name))
    for (const { name, focus } of controlsOf(document)
      .filter(({ name }) => has(name) && !named.has(name))
      .slice(0, MOST)) {
      found.push({ key: `control ${name}`, kind: 'On this page', name, icon: 'chevron', run: focus })
    }
  }
  if (isAsked) {
    for (const { id, title, agent } of sessions.data?.items.slice(0, MOST) ?? []) {
      found.push({
        key: id,
        kind: 'Session',
        name: title ?? 'Untitled',
        ...(agent !== null && { more: agent }),
        icon: 'chat',
        to: `/sessions/${id}`,
      })
    }
    for (const { name } of (tools.data ?? []).filter((tool) => has(tool.name)).slice(0, MOST)) {
      found.push({ key: `tool ${name}`, kind: 'Tool', name, icon: 'tool', to: toolPath(name) })
    }
    const isAdmin = me.roles.includes('admin')
    for (const { name } of policy.data?.document.rules ?? []) {
      const title = isAdmin ? `Change the rule ${name}` : `Rule ${name}`
      if (!has(title) || found.some((one) => one.name === title)) continue
      found.push({ key: `rule ${name}`, kind: 'Policy', name: title, icon: 'settings', to: policyPath(isAdmin ? 'change' : 'rule', name) })
    }
    for (const { id, name } of people.data?.items.slice(0, MOST) ?? []) {
      found.push({ key: id, kind: 'Person', name, icon: 'user', to: `/people/${id}` })
    }
  }
  return { found, isAsking: isAsked && (sessions.isFetching || tools.isLoading) }
}

const policyPath = (what: 'change' | 'rule', name: string): string => `/policy?${new URLSearchParams({ [what]: name })}`

const ofAction = ({ id, description, tool }: Action): Found => ({
  key: id,
  kind: 'Action',
  name: showInvisible(description),
  more: showInvisible(tool),
  icon: 'clock',
  to: `/actions/${id}`,
})
