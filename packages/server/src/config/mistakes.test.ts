import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runModule } from '../../../../verification/testing/run-command.ts'
import { loadConfig } from './index.ts'
import { folderWith, messageOf } from './testing/config-files.ts'

test('a file that cannot be read, parsed or used is named', async () => {
  const folder = await folderWith({
    'twice.yaml': 'agents: {}\nagents: {}\n',
    'broken.yaml': 'agents: {\n',
    'colon.yaml': 'agents:\n  desk:\n    instructions: Note: be polite.\n',
    'proto.json': '{"tools": {"__proto__": {}}}',
    'none.ts': 'export const x = 1\n',
    'throws.ts': 'throw new Error("no luck")\n',
    'without.ts': 'import "a-package-that-nobody-has"\n',
    'odd.toml': '',
    'empty.yaml': '# agents:\n',
    'policy.yaml': 'default: allow\n',
    'main.yaml': 'policy: policy.yaml\n',
    'lost.yaml': 'policy: nowhere.yaml\n',
  })
  const message = (name: string) => messageOf(loadConfig(join(folder, name), {}))
  expect(await message('gone.yaml')).toBe('gone.yaml: cannot be read (ENOENT)')
  expect(await message('empty.yaml')).toBe('empty.yaml: is empty')
  expect(await message('twice.yaml')).toMatch(/^twice\.yaml: line 2: Map keys must be unique/)
  expect(await message('broken.yaml')).toMatch(/^broken\.yaml: line \d: /)
  expect(await message('colon.yaml')).toMatch(/^colon\.yaml: line 3: .*; a text that contains ": " needs quotes$/)
  expect(await message('proto.json')).toMatch(/^proto\.json: the key "__proto__" is not allowed/)
  expect(await message('none.ts')).toMatch(/^none\.ts: has no default export/)
  expect(await message('throws.ts')).toBe('throws.ts: cannot be loaded: no luck, at throws.ts:1')
  expect(await message('without.ts')).toMatch(
    /^without\.ts: cannot be loaded: Cannot find package .*; install it in the folder of this file$/,
  )
  expect(await message('odd.toml')).toMatch(/^odd\.toml: has an unknown kind/)
  expect(await message('main.yaml')).toBe('policy.yaml: line 1: default: must be one of "ask", "deny"')
  expect(await message('lost.yaml')).toBe('nowhere.yaml: cannot be read (ENOENT)')
})

test('a fault in a module is told with the file that it is in and its line, whichever file imports it', async () => {
  const faults = {
    'comma.ts': ['export const bank = {\n  a: ,\n}\n', 'Expression expected, at comma.ts:2'],
    'with space.ts': ['\nenum A { b }\n', 'TypeScript enum is not supported in strip-only mode, at with space.ts:2'],
    'name.ts': ['const read = () => fo.bar\n\nread()\n', 'fo is not defined, at name.ts:1'],
    'waits.ts': ['await null\n\nthrow new Error("like file:///x.ts:7")', 'like file:///x.ts:7, at waits.ts:3'],
    'old.cjs': ['\nthrow new Error("no luck")\n', 'no luck, at old.cjs:2'],
    'lacks.ts': [
      '\nimport { nothing } from "./right.ts"\n',
      "The requested module './right.ts' does not provide an export named 'nothing', at lacks.ts:2",
    ],
    // The compiler of Node tells no line.
    'twice.ts': ['export const a = 1\nconst a = 2\n', "Identifier 'a' has already been declared, in twice.ts"],
    'text.ts': ['throw "no luck"\n', 'no luck'],
    'calls.ts': ['import { check } from "checks"\n\ncheck()\n', 'refused, at calls.ts:3'],
  } as const
  const folder = await folderWith({ 'right.ts': '', ...Object.fromEntries(Object.entries(faults).map(([name, [text]]) => [name, text])) })
  const installed = join(folder, 'node_modules/checks')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":"./index.js"}')
  writeFileSync(join(installed, 'index.js'), 'export const check = () => {\n  throw new Error("refused")\n}\n')
  const names = Object.keys(faults).map((name) => `imports ${name}.ts`)
  for (const [index, name] of Object.keys(faults).entries())
    writeFileSync(join(folder, names[index] ?? ''), `import "./right.ts"\nimport "./${name}"\nexport default {}\n`)
  const messages = await messagesInNode(names.map((name) => join(folder, name)))
  for (const [index, [, told]] of Object.values(faults).entries())
    expect(messages[index]).toBe(`${names[index]}: cannot be loaded: ${told}`)
})

/** A test runner compiles modules with a compiler of its own. */
async function messagesInNode(files: readonly string[]): Promise<string[]> {
  const load = `const { loadConfig } = await import(${JSON.stringify(new URL('index.ts', import.meta.url).href)})
    const messages = []
    for (const file of ${JSON.stringify(files)}) messages.push(await loadConfig(file, {}).then(() => 'it loaded', ({ message }) => message))
    console.log(JSON.stringify(messages))`
  const { stdout, stderr } = await runModule(['--input-type=module', '--eval', load])
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('a file that is not UTF-8 is refused: a rule about a name with an umlaut would never match', async () => {
  const policy = 'rules:\n  - { name: no payroll, match: { tool: writeFile, when: args.path == "Löhne.md" }, verdict: deny }\n'
  const folder = await folderWith({ 'main.yaml': 'policy: policy.yaml\n' })
  for (const encoding of ['latin1', 'utf16le'] as const) {
    writeFileSync(join(folder, 'policy.yaml'), Buffer.from(`\ufeff${policy}`.slice(encoding === 'latin1' ? 1 : 0), encoding))
    expect(await messageOf(loadConfig(join(folder, 'main.yaml'), {}))).toBe('policy.yaml: is not UTF-8: save it with that encoding')
  }
})

test('a mistake in a YAML or JSON file is told with its line, in the file that it is in', async () => {
  const route = '{ method: GET, path: /a }'
  const folder = await folderWith({
    'shape.yaml': 'agents:\n  desk:\n    model: openai/gpt-5-mini\n    instruction: Help.\n    tools: shop.*\n',
    'shape.json': '{\n  "agents": {\n    "desk": { "model": "openai/gpt-5-mini",\n      "maxSteps": 0 } }\n}\n',
    'names.yaml': `agents:\n  desk:\n    model: openai/gpt-5-mini\n    tools:\n      - shop.get\n      - shp.*\ntools:\n  shop:\n    routes: { baseUrl: http://h, tools: { get: ${route} } }\n    prefix: true\n`,
    'unset.yaml': `tools:\n  shop:\n    routes:\n      baseUrl: http://h\n      headers:\n        authorization: Bearer \${SHOP_TOKEN}\n      tools: { get: ${route} }\n`,
    'shared.yaml': 'agents:\n  one: &one\n    model: gpt\n  two: *one\n',
    'inline.yaml':
      'policy:\n  rules:\n    - name: x\n      match: { effect: read }\n      verdict: allow\n    - name: y\n      match: {}\n',
    'main.yaml': 'policy: policy.yaml\n',
    'policy.yaml': 'rules:\n  - name: x\n    match:\n      agent: dsk\n    verdict: deny\n',
    'misspelt.yaml': 'policy: verdikt.yaml\n',
    'verdikt.yaml': 'rules:\n  - name: x\n    match: {}\n    verdikt: deny\n',
  })
  const lines = async (name: string) => (await messageOf(loadConfig(join(folder, name), {}))).split('\n')
  expect(await lines('shape.yaml')).toEqual([
    'shape.yaml: line 5: agents.desk.tools: must be a list',
    expect.stringMatching(/^shape\.yaml: line 4: agents\.desk\.instruction: is not known here; known are /),
  ])
  expect(await lines('shape.json')).toEqual(['shape.json: line 4: agents.desk.maxSteps: must be at least 1'])
  expect(await lines('names.yaml')).toEqual(['names.yaml: line 6: agents.desk.tools.1: "shp.*" fits no tool; there is shop.get'])
  expect(await lines('unset.yaml')).toEqual([
    'unset.yaml: line 6: tools.shop.routes.headers.authorization: needs the environment variable SHOP_TOKEN, which is not set',
  ])
  expect(await lines('shared.yaml')).toEqual([
    'shared.yaml: line 3: agents.one.model: must be provider/model, for example openai/gpt-5-mini',
    'shared.yaml: line 3: agents.two.model: must be provider/model, for example openai/gpt-5-mini',
  ])
  expect(await lines('inline.yaml')).toEqual(['inline.yaml: line 6: policy.rules.1.verdict: is required'])
  expect(await lines('main.yaml')).toEqual([
    expect.stringMatching(/^policy\.yaml: line 4: rules\.0\.match\.agent: "dsk" fits no configured agent/),
  ])
  expect(await lines('misspelt.yaml')).toEqual([
    'verdikt.yaml: line 2: rules.0.verdict: is required',
    expect.stringMatching(/^verdikt\.yaml: line 4: rules\.0\.verdikt: is not known here; known are /),
  ])
})

test('a placeholder without quotes is refused: YAML reads a map, and an empty value would be sent', async () => {
  const routes = (body: string) =>
    `tools:\n  bank:\n    routes:\n      baseUrl: http://h\n      tools:\n        setBalance:\n          method: PUT\n          path: /balances/{customer}\n          body: ${body}\n`
  const folder = await folderWith({ 'bare.yaml': routes('{ cents: {cents} }'), 'null.yaml': routes('{ cents: { amount: null } }') })
  expect(await messageOf(loadConfig(join(folder, 'bare.yaml'), {}))).toBe(
    'bare.yaml: line 9: {cents} has no values: a text such as "{cents}" needs quotes',
  )
  const { tools } = await loadConfig(join(folder, 'null.yaml'), {})
  expect(tools.all().map(({ name }) => name)).toEqual(['bank.setBalance'])
})

test('a mistake of YAML is told with the line that is wrong, and with what to write', async () => {
  const cases = {
    'agents:\n  desk:\n    model: a/b\n     maxSteps: 3\n':
      'line 4: is indented deeper than the line above, which has a value: give both the same indent',
    'policy:\n  default:ask\n  rules: []\n': 'line 2: Implicit keys need to be on a single line; a key needs a colon and a space after it',
    'agents:\n  desk:\n    model: a/b\n    tools: [*]\n':
      'line 4: Alias cannot be an empty string; a text that begins with * or & needs quotes',
    'policy:\n  rules:\n    - name: x\n      match: { when: !args.x }\n':
      'line 4: Unresolved tag: !args.x; a text that begins with ! needs quotes',
    'tools:\n  x: { path: /o/{id} }\n':
      'line 2: Unexpected flow-map-start at node end; a text with { } or quotation marks in it needs quotes around the whole',
    'agents:\n\tdesk: {}\n': 'line 2: Tabs are not allowed as indentation',
  }
  const folder = await folderWith(Object.fromEntries(Object.keys(cases).map((text, index) => [`${index}.yaml`, text])))
  for (const [index, message] of Object.values(cases).entries()) {
    expect(await messageOf(loadConfig(join(folder, `${index}.yaml`), {}))).toBe(`${index}.yaml: ${message}`)
  }
})
