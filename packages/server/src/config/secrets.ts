import { modelSecrets } from '../models/settings.ts'
import type { Config } from './load.ts'
import type { Settings } from './settings.ts'

/** Returns every secret of this process: none of them is ever stored, shown or logged. */
export function secretsOf(
  { bootstrapKey, instance, models, database, databasePassword, oidc }: Settings,
  config: Pick<Config, 'secrets' | 'signIn'>,
): string[] {
  const urls = database.kind === 'postgres' ? [database.url, database.directUrl ?? database.url] : []
  // Both the encoded form that is sent and the form in the file.
  const passwords = urls.flatMap((url) => {
    const { password, search, searchParams } = new URL(url)
    const inQuery = /[?&]password=([^&]*)/.exec(search)?.[1] ?? ''
    return [password, decodeURIComponent(password), inQuery, searchParams.get('password') ?? '']
  })
  return [
    ...config.secrets,
    ...modelSecrets(models),
    ...passwords,
    databasePassword ?? '',
    bootstrapKey ?? '',
    instance.token ?? '',
    oidc.clientSecret ?? '',
    config.signIn?.clientSecret ?? '',
  ].filter((secret) => secret !== '')
}
