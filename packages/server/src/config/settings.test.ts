import { expect, test } from 'vitest'
import { ConfigError, type Environment, readSettings, type SettingsFlags } from './index.ts'

function refusal(flags: SettingsFlags, environment: Environment): string {
  try {
    readSettings(flags, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

test('without flags and environment the server is local and keyless', () => {
  expect(readSettings({}, {})).toEqual({
    host: '127.0.0.1',
    port: 4319,
    dataDir: './.countersign',
    database: { kind: 'sqlite', dataDir: './.countersign' },
    configFile: undefined,
    executions: { perProcess: 128, perSession: 8 },
    modelCalls: 200,
    logLevel: 'info',
    publicUrl: undefined,
    trustedProxies: [],
    sessionLimits: { idleMs: 12 * 3_600_000, maxMs: 30 * 24 * 3_600_000 },
    rateLimits: { requestsPerSecond: 5_000, failuresPerMinute: 600 },
    oidc: {},
    bootstrapKey: undefined,
    instance: { hold: false, acceptCopy: false, file: undefined, token: undefined },
    models: { openai: {}, anthropic: {}, google: {}, openaiCompatible: {} },
  })
})

test('flags go before the environment, and an empty variable is no variable', () => {
  const environment = {
    COUNTERSIGN_HOST: '0.0.0.0',
    COUNTERSIGN_PORT: '5000',
    COUNTERSIGN_DATA: '/data',
    COUNTERSIGN_CONFIG: 'a.yaml',
    COUNTERSIGN_LOG_LEVEL: 'debug',
    DATABASE_URL: '',
  }
  expect(readSettings({}, environment)).toMatchObject({
    host: '0.0.0.0',
    port: 5000,
    dataDir: '/data',
    configFile: 'a.yaml',
    logLevel: 'debug',
  })
  const flags = { host: '::1', port: 0, data: './d', config: 'b.yaml', logLevel: 'warn' }
  expect(readSettings(flags, environment)).toMatchObject({ host: '::1', port: 0, dataDir: './d', configFile: 'b.yaml', logLevel: 'warn' })
})

test('how many actions are carried out and models asked at a time is bounded', () => {
  const environment = { COUNTERSIGN_MAX_EXECUTIONS: '40', COUNTERSIGN_MAX_EXECUTIONS_PER_SESSION: '4' }
  expect(readSettings({ maxExecutionsPerSession: '2' }, environment).executions).toEqual({ perProcess: 40, perSession: 2 })
  expect(readSettings({ maxModelCalls: 7 }, { COUNTERSIGN_MAX_MODEL_CALLS: '8' }).modelCalls).toBe(7)
  expect(refusal({}, { COUNTERSIGN_MAX_EXECUTIONS: '0' })).toBe('COUNTERSIGN_MAX_EXECUTIONS: must be a number from 1 to 9999, not "0"')
  expect(refusal({ maxExecutionsPerSession: 'all' }, {})).toMatch(/^--max-executions-per-session: must be a number from 1 to 9999/)
})

test('the database is Postgres where an address names one', () => {
  const url = 'postgres://u:secret@h/d'
  const directUrl = 'postgresql://u:secret@direct/d'
  expect(readSettings({}, { DATABASE_URL: url }).database).toEqual({ kind: 'postgres', url, directUrl: undefined })
  const flags = { databaseUrl: url, databaseDirectUrl: directUrl }
  expect(readSettings(flags, { DATABASE_URL: 'postgres://other/d' }).database).toEqual({ kind: 'postgres', url, directUrl })
})

test('an address that is none is named by its flag or variable, and never shown', () => {
  expect(refusal({ databaseUrl: 'mysql://u:secret@h/d' }, {})).toMatch(/^--database-url: must be a postgres:\/\/ address(?!.*secret)/s)
  expect(refusal({}, { DATABASE_URL: 'u:secret@h/d' })).toMatch(/^DATABASE_URL: must be a postgres:\/\/ address(?!.*secret)/s)
  for (const password of ['se/cret', 'se%ret', 'secret#1']) {
    const said = refusal({}, { DATABASE_URL: `postgres://u:${password}@h/d` })
    expect(said).toMatch(/^DATABASE_URL: must be a postgres:\/\/ address, with special characters of the password encoded/)
    expect(said).not.toContain('ret')
  }
  const direct = refusal({}, { DATABASE_DIRECT_URL: 'postgres://u:secret@h/d' })
  expect(direct).toBe('DATABASE_DIRECT_URL: is of use only beside DATABASE_URL')
})

test("the providers' usual variables are read, addresses without their trailing slash", () => {
  const { models } = readSettings(
    {},
    {
      OPENAI_API_KEY: 'k1',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/',
      ANTHROPIC_API_KEY: 'k2',
      ANTHROPIC_BASE_URL: 'http://a',
      GEMINI_API_KEY: 'k3',
      GOOGLE_BASE_URL: 'http://g',
      OPENAI_COMPATIBLE_API_KEY: 'k4',
      OPENAI_COMPATIBLE_BASE_URL: 'http://c/v1',
    },
  )
  expect(models).toEqual({
    openai: { apiKey: 'k1', baseUrl: 'http://127.0.0.1:9/v1' },
    anthropic: { apiKey: 'k2', baseUrl: 'http://a' },
    google: { apiKey: 'k3', baseUrl: 'http://g' },
    openaiCompatible: { apiKey: 'k4', baseUrl: 'http://c/v1' },
  })
  const both = readSettings({}, { GOOGLE_GENERATIVE_AI_API_KEY: 'first', GEMINI_API_KEY: 'second' })
  expect(both.models.google?.apiKey).toBe('first')
})

test('what cannot be used is named with the flag or variable it came from', () => {
  expect(refusal({ port: '70000' }, {})).toBe('--port: must be a port from 0 to 65535, not "70000"')
  expect(refusal({}, { COUNTERSIGN_PORT: '80a' })).toBe('COUNTERSIGN_PORT: must be a port from 0 to 65535, not "80a"')
  for (const host of ['127.0.0.1\n', ' 127.0.0.1', 'http://localhost', '[::1]', '127.0.0.1:80/x']) {
    expect(refusal({}, { COUNTERSIGN_HOST: host })).toBe(
      `COUNTERSIGN_HOST: must be an address or a host name to listen on, not ${JSON.stringify(host)}`,
    )
  }
  for (const host of ['::1', 'fe80::1%eth0', '0.0.0.0', 'my-host.internal']) expect(readSettings({ host }, {}).host).toBe(host)
  expect(refusal({}, { COUNTERSIGN_PORT: '80\n' })).toBe('COUNTERSIGN_PORT: must be a port from 0 to 65535, not "80\\n"')
  expect(refusal({}, { COUNTERSIGN_LOG_LEVEL: 'loud' })).toMatch(/^COUNTERSIGN_LOG_LEVEL: must be one of fatal, /)
  expect(refusal({}, { OPENAI_BASE_URL: 'api.openai.com' })).toBe('OPENAI_BASE_URL: must be an http:// or https:// address')
})

test('a bootstrap key is long enough to be a secret, and never shown', () => {
  const key = 'k'.repeat(24)
  expect(readSettings({}, { COUNTERSIGN_BOOTSTRAP_KEY: key }).bootstrapKey).toBe(key)
  expect(refusal({}, { COUNTERSIGN_BOOTSTRAP_KEY: 'too-short' })).toBe(
    'COUNTERSIGN_BOOTSTRAP_KEY: must have at least 24 characters, it has 9',
  )
  const spaced = refusal({}, { COUNTERSIGN_BOOTSTRAP_KEY: `${'s'.repeat(30)} x` })
  expect(spaced).toMatch(/^COUNTERSIGN_BOOTSTRAP_KEY: must be printable ASCII/)
  expect(spaced).not.toContain('ssss')
})

test('every problem is told at once', () => {
  expect(refusal({ port: 'x' }, { DATABASE_URL: 'mysql://h', COUNTERSIGN_BOOTSTRAP_KEY: 'x' }).split('\n')).toHaveLength(3)
})
