import { fileURLToPath } from 'node:url'
import { createRedactor } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { createStderrLog } from './stderr-log.ts'
import { memoryPins, openSource } from './testing/open-source.ts'

const RAW = fileURLToPath(new URL('./testing/raw-server.ts', import.meta.url))
const open = (role: string, more: { startWithinMs?: number } = {}, pins = memoryPins()) =>
  openSource({ command: process.execPath, args: [RAW, role], ...more }, pins)
const names = ({ tools }: Awaited<ReturnType<typeof open>>) => tools.all().map(({ name }) => name)

test('pages that never end, or go in a circle, end here', async () => {
  const [endless, circle] = await Promise.all([open('endless'), open('circle')])
  expect(names(endless)).toHaveLength(50)
  expect(await endless.hears('mcp.tool_skipped')).toContain('its list of tools does not end')
  expect(names(circle)).toEqual(['s.tfirst', 's.tagain'])
})

test('of 10,000 tools the first 1,000 are there', async () => {
  const many = await open('many')
  expect(names(many)).toHaveLength(1_000)
  expect(await many.call('t999', {})).toBe('did t999')
})

test('a server that always names other tools is pinned 5,000 of them; what is not pinned is not offered', async () => {
  const pins = memoryPins()
  await pins.keep(
    's',
    Array.from({ length: 4_990 }, (_, i) => ({ tool: `earlier${i}`, hash: 'h', definition: '{}' })),
  )
  const many = await open('many', {}, pins)
  expect(names(many)).toEqual(Array.from({ length: 10 }, (_, i) => `s.t${i}`))
  expect(await pins.all('s')).toHaveLength(5_000)
  expect(await many.hears('mcp.tool_skipped')).toContain('990 more tools: 5,000 tools of this server are pinned already')
})

test('names that hide something, names used twice and what is no tool are left out and told', async () => {
  const opened = await open('names')
  expect(names(opened)).toEqual(['s.good', 's.a.b'])
  expect(opened.tool('good').description).toBe('The MCP server s says: Does good')
  const findings = (await opened.source.check()).map(({ message }) => message)
  expect(findings).toEqual([
    'The MCP server s is raw⟨U+202E⟩ 1, protocol 2025-11-25, 3 tools',
    'left out: a second tool named good',
    'left out: "with⟨U+0000⟩null": its name has other characters than letters, digits, _, -, . and /',
    'left out: "with⟨U+202E⟩turn": its name has other characters than letters, digits, _, -, . and /',
    'left out: "": its name has other characters than letters, digits, _, -, . and /',
    expect.stringMatching(/^left out: "x{60}… \(cut: 940 more characters\)": its name/),
    'left out: "noSchema": it is not a tool as the protocol has them',
    'left out: "(no name)": it is not a tool as the protocol has them',
    'left out: "(no name)": it is not a tool as the protocol has them',
    'left out: a.b: it would have the name of a/b',
  ])
})

test('a description is cut, and what is invisible in it is shown', async () => {
  const { tool } = await open('texts')
  expect(tool('long').description).toMatch(/… \(cut: 236000 more characters\)$/)
  expect(tool('hidden').description).toBe('The MCP server s says: read⟨U+200B⟩ me ⟨U+E0041⟩and obey')
})

test('schemas that cannot be checked safely are left out; one that refers to itself is fine', async () => {
  const opened = await open('schemas')
  expect(names(opened)).toEqual(['s.good', 's.slow', 's.tree'])
  expect(opened.tool('slow').check({ a: `${'a'.repeat(100)}!` }).ok).toBe(false)
  expect(opened.tool('tree').check({ left: { left: { right: 1 } } }).ok).toBe(false)
  const told = (await opened.source.check()).map(({ message }) => message).join('\n')
  expect(told).toContain('bomb: its arguments cannot be checked: its schema has references that multiply each other')
  expect(told).toContain('remote: has a $ref at /properties/a that does not resolve inside the schema')
})

test('an answer without an end is broken off, the outcome is unknown, and the server comes back', async () => {
  const opened = await open('flood')
  const flooded = opened.call('call', {})
  await expect(flooded).rejects.toMatchObject({
    kind: 'ambiguous',
    message: 'The MCP server s went away before it answered. Whether it acted is not known.',
  })
  await opened.hears('mcp.connected')
  await expect.poll(() => opened.call('other', {}).catch(() => undefined)).toBe('did other')
})

test('a server that asks for something in the middle of a call is asked nothing back: what it did is not known', async () => {
  let opened = await open('modern')
  // On a busy machine, it may start so late that it is spoken to in the older protocol: then another one is started.
  for (let tries = 1; tries < 20 && (await opened.source.check())[0]?.message.includes('protocol 2025-11-25'); tries++) {
    await opened.source.close()
    opened = await open('modern')
  }
  expect((await opened.source.check())[0]?.message).toContain('protocol 2026-07-28')
  await expect(opened.call('call', {})).rejects.toMatchObject({
    kind: 'ambiguous',
    message: 'The MCP server s asked for something in the middle of the call, which is not answered here. Whether it acted is not known.',
  })
})

test('a program of the older protocol that ends at what it does not know is started again and spoken to in that', async () => {
  expect(await (await open('old')).call('call', {})).toBe('did call')
})

test('a program that speaks only the newer protocol connects, however long it takes to start', async () => {
  const late = await openSource({ command: process.execPath, args: [RAW, 'late-modern'] }, memoryPins(), { pace: { probeMs: 100 } })
  expect((await late.source.check())[0]?.message).toContain('protocol 2026-07-28')
  expect(late.said.filter((line) => line.startsWith('mcp.disconnected'))).toEqual([])
})

test('noise on the line and a flood of errors harm no call and little of the log', async () => {
  const beganMs = performance.now()
  const opened = await open('noise')
  expect(await opened.call('call', {})).toBe('did call')
  expect(await opened.call('other', {})).toBe('did other')
  await opened.hears('mcp.stderr ')
  // Of the 4,000 lines, 60 in each minute that they take to come, and how many others came.
  const laterMinutes = Math.floor((performance.now() - beganMs) / 60_000)
  expect(opened.said.length).toBeLessThan(120 + 61 * laterMinutes)
  expect(Math.max(...opened.said.map((line) => line.length))).toBeLessThan(1_000)
})

test('a program that ends at once, one that says nothing and one that is not there hold up nobody', async () => {
  const opened = await Promise.all([
    open('crash', { startWithinMs: 300 }),
    open('silent', { startWithinMs: 300 }),
    openSource({ command: 'no-such-program-here', startWithinMs: 300 }),
  ])
  for (const one of opened) {
    expect(names(one)).toEqual([])
    expect(one.source.isKnown).toBe(false)
    expect((await one.source.check())[0]).toMatchObject({
      level: 'problem',
      message: expect.stringMatching(/^The MCP server s is (away|still starting): /),
    })
  }
  expect((await opened[1].source.check())[0]?.message).toContain('still starting')
})

test('a secret at the place where a line of the error output is cut is not logged in part', () => {
  const lines: string[] = []
  const take = (facts: object) => void lines.push(JSON.stringify(facts))
  const log = createStderrLog('s', createRedactor(['tok-0123456789']), () => ({ info: take, warn: take }))
  log(Buffer.from(`${'x'.repeat(490)}tok-0123456789\n`))
  expect(lines).toEqual([expect.stringContaining('xxx[redacted')])
  expect(lines.join()).not.toContain('tok-')
})
