import type { Model } from '@countersign/core'
import { createRedactor, openNetwork, outgoingFetch, secretHeaders } from '@countersign/toolkit'
import { importOptional, MissingPackage } from '../optional-package.ts'
import { type AiSdkModelOptions, aiSdkModel } from './ai-sdk.ts'
import { anthropicCache, openaiCache } from './prompt-cache.ts'
import { reasoningExtractor } from './reasoning-details.ts'
import { redactModel } from './redact.ts'
import { remoteBrain } from './remote-brain.ts'
import { openScript } from './script-file.ts'
import { DEFAULT_CACHE, DEFAULT_TIMEOUT_MS, type ModelSettings, modelSecrets, type ProviderSettings } from './settings.ts'
import { MEDIA } from './tool-media.ts'

/** The longest ids and the alphabet that OpenAI, Anthropic and Gemini all accept for a tool call. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,40}$/
/** Mistral, behind the OpenAI-compatible API, accepts only these. */
const SHORT_CALL_ID = /^[a-zA-Z0-9]{9}$/

type Opener = (name: string, spec: string, settings: ModelSettings) => Model | Promise<Model>

const OPENERS: Record<string, Opener> = {
  async openai(name, spec, settings) {
    const { apiKey, baseURL } = signIn(spec, settings.openai, 'OPENAI_API_KEY', 'https://api.openai.com/v1')
    const { createOpenAI } = await load('@ai-sdk/openai', spec, () => import('@ai-sdk/openai'))
    return provider(spec, settings, baseURL, {
      connect: (fetch) => createOpenAI({ apiKey, baseURL, fetch }).responses(name),
      // The provider stores nothing: our history is the only one, and reasoning arrives encrypted and is sent back as it is.
      providerOptions: { openai: { store: false } },
      media: MEDIA.openai,
      cache: openaiCache(settings.cache ?? DEFAULT_CACHE),
    })
  },
  async 'openai-chat'(name, spec, settings) {
    const { apiKey, baseURL } = signIn(spec, settings.openai, 'OPENAI_API_KEY', 'https://api.openai.com/v1')
    const { createOpenAI } = await load('@ai-sdk/openai', spec, () => import('@ai-sdk/openai'))
    return provider(spec, settings, baseURL, {
      isChat: true,
      connect: (fetch) => createOpenAI({ apiKey, baseURL, fetch }).chat(name),
      media: MEDIA.openaiChat,
      cache: openaiCache(settings.cache ?? DEFAULT_CACHE),
    })
  },
  async anthropic(name, spec, settings) {
    const { apiKey, baseURL } = signIn(spec, settings.anthropic, 'ANTHROPIC_API_KEY', 'https://api.anthropic.com/v1')
    const { createAnthropic } = await load('@ai-sdk/anthropic', spec, () => import('@ai-sdk/anthropic'))
    return provider(spec, settings, baseURL, {
      connect: (fetch) => createAnthropic({ apiKey, baseURL, fetch }).languageModel(name),
      media: MEDIA.anthropic,
      cache: anthropicCache(settings.cache ?? DEFAULT_CACHE),
    })
  },
  async google(name, spec, settings) {
    const google = 'https://generativelanguage.googleapis.com/v1beta'
    const { apiKey, baseURL } = signIn(spec, settings.google, 'GOOGLE_GENERATIVE_AI_API_KEY', google)
    const { createGoogle } = await load('@ai-sdk/google', spec, () => import('@ai-sdk/google'))
    return provider(spec, settings, baseURL, {
      connect: (fetch) => createGoogle({ apiKey, baseURL, fetch }).languageModel(name),
      media: MEDIA.google,
    })
  },
  async 'openai-compatible'(name, spec, settings) {
    const { baseUrl, apiKey, pictures } = settings.openaiCompatible ?? {}
    if (!baseUrl) throw new Error(`${spec} needs OPENAI_COMPATIBLE_BASE_URL, the address of the provider (https://host/v1)`)
    const baseURL = httpUrl(spec, baseUrl, 'OPENAI_COMPATIBLE_BASE_URL')
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    return provider(spec, settings, baseURL, {
      callId: SHORT_CALL_ID,
      isChat: true,
      // Most of these models read text only, and refuse the whole conversation because of one image in it.
      ...(pictures && { media: MEDIA.pictures }),
      connect: (fetch) =>
        createOpenAICompatible({
          name: 'openaiCompatible',
          baseURL,
          fetch,
          includeUsage: true,
          metadataExtractor: reasoningExtractor,
          ...(apiKey && { apiKey }),
        }).chatModel(name),
    })
  },
  remote(url, _spec, settings) {
    const address = new URL(httpUrl('a remote brain', url, 'the address after remote/'))
    return remoteBrain({
      // The part after the path may be a token, and the id is shown.
      id: `remote/${url.split(/[?#]/, 1)[0]}`,
      url,
      headers: settings.remote?.headers ?? {},
      fetch: outgoingFetch(settings.network ?? openNetwork(), address.origin),
      timeoutMs: settings.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    })
  },
  scripted: (file, spec, settings) => openScript(spec, file, settings.scriptDirectory),
}

/**
 * Opens the model named by `spec`: `openai/<model>` (Responses API), `openai-chat/<model>`, `anthropic/<model>`, `google/<model>`,
 * `openai-compatible/<model>`, `remote/<url>` (a remote brain) or `scripted/<file>`.
 * @param settings Keys and addresses; this function reads nothing from the environment. `timeoutMs` is the longest silence, default
 * 300_000.
 * @throws Error for an unknown provider, a missing key or address (naming its environment variable), or an invalid script.
 * @example
 * const model = await openModel('openai/gpt-5-mini', { openai: { apiKey: 'sk-…' } })
 * for await (const event of model.stream(request)) console.log(event)
 */
export async function openModel(spec: string, settings: ModelSettings): Promise<Model> {
  const slash = spec.indexOf('/')
  const kind = slash === -1 ? spec : spec.slice(0, slash)
  const name = slash === -1 ? '' : spec.slice(slash + 1)
  const open = Object.hasOwn(OPENERS, kind) ? OPENERS[kind] : undefined
  if (!open) throw new Error(`unknown model provider "${kind}" in "${spec}"; known are ${Object.keys(OPENERS).join(', ')}`)
  if (name === '')
    throw new Error(`"${spec}" names no model: write ${kind}/${kind === 'remote' ? '<url>' : kind === 'scripted' ? '<file>' : '<model>'}`)
  const model = await open(name, spec, settings)
  // A scripted model is a local file.
  if (kind === 'scripted') return model
  const secrets = [...(settings.secrets ?? modelSecrets(settings)), ...(kind === 'remote' ? addressSecrets(name) : [])]
  return redactModel(model, createRedactor(secrets))
}

/** The major version of the providers' packages that this one is made for. */
const PROVIDERS_VERSION = 4

/** @throws Error that names the model and the package to install. */
async function load<T>(packageName: string, spec: string, importIt: () => Promise<T>): Promise<T> {
  try {
    return await importOptional(packageName, importIt, PROVIDERS_VERSION)
  } catch (error) {
    throw error instanceof MissingPackage ? new Error(`${spec} ${error.message}`, { cause: error }) : error
  }
}

/**
 * Returns the part of a URL after its path, as a whole and its values with secret names: a brain that echoes its request would repeat them.
 */
function addressSecrets(url: string): string[] {
  const { search, searchParams } = new URL(url)
  return [search, ...secretHeaders(Object.fromEntries(searchParams))]
}

const provider = (
  id: string,
  { network = openNetwork(), timeoutMs = DEFAULT_TIMEOUT_MS }: ModelSettings,
  baseUrl: string,
  options: Pick<AiSdkModelOptions, 'connect'> & Partial<AiSdkModelOptions>,
): Model => aiSdkModel({ id, callId: CALL_ID, fetch: outgoingFetch(network, new URL(baseUrl).origin), timeoutMs, ...options })

// The base URL is always set: otherwise the packages would read their own environment variables and bypass the configuration.
function signIn(spec: string, settings: ProviderSettings | undefined, variable: string, defaultUrl: string) {
  if (!settings?.apiKey) throw new Error(`${spec} needs a key: set ${variable}`)
  return { apiKey: settings.apiKey, baseURL: httpUrl(spec, settings.baseUrl || defaultUrl, 'its base URL') }
}

/** @throws Error that does not quote the address: it may hold a password. */
function httpUrl(spec: string, url: string, what: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:') throw new Error(`${spec}: ${what} must be an http or https address`)
  if (address.username !== '' || address.password !== '')
    throw new Error(`${spec}: ${what} takes no name or password: configure a key or a header`)
  return url
}
