/** A part of the configuration needs a package that is not installed. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage'
  constructor(packageName: string, options?: ErrorOptions) {
    super(`needs the package ${packageName}: npm install ${packageName}`, options)
  }
}

/**
 * Imports a package that is installed on demand.
 * @throws MissingPackage when it is not installed. Another missing module is a broken installation and throws the error that names it.
 * @example
 * const { createOpenAI } = await importOptional('@ai-sdk/openai', () => import('@ai-sdk/openai'))
 */
export async function importOptional<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    throw isMissing && error.message.includes(`'${packageName}'`) ? new MissingPackage(packageName, { cause: error }) : error
  }
}
