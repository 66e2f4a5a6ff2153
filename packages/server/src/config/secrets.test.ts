import { expect, test } from 'vitest'
import { readSettings, secretsOf } from './index.ts'

const NOTHING = { secrets: [], signIn: undefined }

test('the password of the database is a secret, wherever it is given', () => {
  const secretsWith = (environment: Record<string, string>) => secretsOf(readSettings({}, environment), NOTHING)
  expect(secretsWith({ DATABASE_URL: 'postgres://me:in%2Furl@db/x' })).toEqual(expect.arrayContaining(['in%2Furl', 'in/url']))
  expect(secretsWith({ DATABASE_URL: 'postgres://me@db/x?password=in%2Fquery&sslmode=require' })).toEqual(
    expect.arrayContaining(['in%2Fquery', 'in/query']),
  )
  expect(secretsWith({ DATABASE_URL: 'postgres://me@db/x', PGPASSWORD: 'in-environment' })).toEqual(['in-environment'])
})
