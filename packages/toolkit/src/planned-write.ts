import { type ExecuteContext, type JsonObject, type Preview, ToolError, type Verification, type VerifyContext } from '@countersign/core'
import type { z } from 'zod'
import { asWritten, type CodedTool, copyOf, defineTool, type ToolDefinition } from './define.ts'
import { valuesOf } from './tool-draft.ts'

/** The plan of an attempt. */
export interface Planned<Plan> {
  /**
   * Returns the plan that people saw: read again and compared, or taken from the version by `resume`. Where policy alone decided, nobody saw
   * one, and it is made now.
   * @throws ToolError `stale`, or the error of `changed`, when a plan made now has another version.
   */
  plan(): Promise<Plan>
}

/** A write in four steps: plan, show, make, find. */
export interface PlannedWrite<Args, Plan>
  extends Pick<ToolDefinition<Args>, 'name' | 'description' | 'idempotent' | 'resultUrl' | 'settlesWithin' | 'timeoutMs'> {
  describe(args: Args): string
  /**
   * Reads the target and works out the change, without changing anything.
   * @throws ToolError `refused`, with `impossible: true` for what cannot be done.
   */
  plan(args: Args, signal: AbortSignal): Promise<Plan>
  /**
   * Returns what people see of a plan. `version` names what the plan rests on: another version later is another change. Without a
   * `precondition`, the shown values and the version must be the same when the action starts.
   */
  show(plan: Plan, args: Args): Preview
  /** Makes the change once. `context.plan()` is the plan that people saw. */
  make(args: Args, context: ExecuteContext & Planned<Plan>): Promise<unknown>
  /**
   * Looks for the change of this attempt by reading only. It runs before `make`, so that a second send of an attempt changes nothing, and when
   * an answer was lost. `done: 'unknown'` means that the target is neither as it was shown nor as it would be afterwards.
   */
  find?(args: Args, context: VerifyContext): Promise<Verification>
  /** Finds out the outcome of a lost attempt, if `find` is not enough. Default: `find`. */
  verify?(args: Args, context: VerifyContext & Planned<Plan>): Promise<Verification>
  /** Reads the plan back from the version that `show` gave. Then `make` changes exactly what was shown, without a second plan. */
  resume?(version: string): Plan
  /** The error for a target that is not as it was shown. Default: ToolError `stale`. */
  changed?(args: Args, context: VerifyContext): unknown
  /** Runs an attempt, for example after those before it. Default: at once. */
  run?<T>(attempt: () => Promise<T>): Promise<T>
}

/**
 * Defines a write whose card shows exactly what will be made: the plan is read for the card, read again when the action starts, and an attempt
 * never makes another one. A second send of the same attempt finds what the first one did.
 * @example
 * definePlannedWrite({
 *   name: 'rename',
 *   description: 'Renames a customer.',
 *   input: z.object({ id: z.string(), name: z.string() }),
 *   describe: ({ id, name }) => `Rename ${id} to ${name}`,
 *   plan: ({ id }) => crm.read(id),
 *   show: (customer, { name }) => ({ fields: [{ field: 'name', oldValue: customer.name, newValue: name }], version: customer.etag }),
 *   make: async ({ id, name }, { plan, idempotencyKey }) => crm.write(id, { name, ifMatch: (await plan()).etag, key: idempotencyKey }),
 *   find: async ({ id, name }) => ({ done: (await crm.read(id)).name === name }),
 * })
 */
export function definePlannedWrite<Input extends z.ZodObject, Plan>(
  write: PlannedWrite<z.output<Input>, Plan> & { input: Input },
): CodedTool & Required<Pick<CodedTool, 'preview'>> {
  type Args = z.output<Input>
  const { plan, show, make, find, verify, resume, changed = staleError, run = (attempt) => attempt(), ...words } = write

  const withPlan = <Context extends VerifyContext>(args: Args, context: Context): Context & Planned<Plan> => ({
    ...context,
    async plan() {
      const { version, signal } = context
      if (version !== undefined && resume) return resume(version)
      const made = await plan(args, signal)
      if (version !== undefined && show(made, args).version !== version) throw await changed(args, context)
      return made
    },
  })

  const tool = defineTool({
    ...words,
    effect: 'write',
    execute: (args: Args, context: ExecuteContext) =>
      run(async () => {
        // An attempt that ran out of time while it waited for its turn is of unknown outcome by now. People may have said that it did nothing.
        if (context.signal.aborted) throw new ToolError('broken', 'Its time ended before its turn came. Nothing was changed.')
        const found = await find?.(args, context)
        if (found?.done === true) return found.output ?? null
        if (found?.done === 'unknown' && context.version !== undefined) throw await changed(args, context)
        return make(args, withPlan(args, context))
      }),
    ...((verify ?? find) && {
      verify: (args: Args, context: VerifyContext) =>
        verify ? verify(args, withPlan(args, context)) : (find?.(args, context) ?? { done: 'unknown' }),
    }),
  } as ToolDefinition<Args> & { input: Input })
  return {
    ...tool,
    // Sound because arguments that reach a tool's functions went through its `check`, which yields exactly the input's type.
    preview: async (args: JsonObject, signal: AbortSignal) => withState(show(await plan(args as Args, signal), args as Args)),
  }
}

/** A preview without a precondition would not be read again before the start: then what runs is not what was shown. */
function withState({ precondition, version, ...shown }: Preview): Preview {
  const { fields, ...words } = asWritten(shown)
  const state = precondition ?? { values: valuesOf(fields), ...(version !== undefined && { version }) }
  return { fields, ...words, precondition: copyOf(state), ...(version !== undefined && { version }) }
}

const staleError = (): ToolError => new ToolError('stale', 'It changed after it was looked at last. Nothing was changed.')
