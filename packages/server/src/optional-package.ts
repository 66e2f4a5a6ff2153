/** A part of the configuration needs a package that is not installed. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage'
  /** @param version Its major version, if the newest one may be another. */
  constructor(packageName: string, { version, ...options }: ErrorOptions & { version?: number } = {}) {
    super(`needs the package ${packageName}: npm install ${packageName}${version === undefined ? '' : `@${version}`}`, options)
  }
}

/**
 * Imports a package that is installed on demand.
 * @param version The major version to install.
 * @throws MissingPackage when it is not installed. Another missing module is a broken installation and throws the error that names it.
 * @example
 * const { createOpenAI } = await importOptional('@ai-sdk/openai', () => import('@ai-sdk/openai'), 4)
 */
export async function importOptional<T>(packageName: string, load: () => Promise<T>, version?: number): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    throw isMissing && error.message.includes(`'${packageName}'`)
      ? new MissingPackage(packageName, { cause: error, ...(version !== undefined && { version }) })
      : error
  }
}
