import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { claims, type OtherProcess } from '../../store/index.ts'
import type { Membership, MembershipWork } from '../membership.ts'
import type { JobDispatch } from './job-dispatch.ts'
import type { Notices } from './notices.ts'
import type { PostgresHub } from './postgres-hub.ts'
import type { Processes } from './processes.ts'

export interface ClusterMemberOptions {
  processes: Processes
  notices: Notices
  hub: PostgresHub
  dispatch: JobDispatch
  /** Rereads everything: see `createResync`. */
  resync(): void
  log: Logger
}

/**
 * Creates the membership of one of several processes on one Postgres: it takes over from processes that are gone and hands over its work
 * when it leaves.
 */
export function clusterMember({ processes, notices, hub, dispatch, resync, log }: ClusterMemberOptions): Membership {
  const { connection } = processes
  let isLeaving = false
  let joined: MembershipWork | undefined

  /** Adopts the work that no live process owns, and enqueues everything that is due again: no job is lost for good. */
  async function adoptOrphans(work: MembershipWork): Promise<void> {
    await work.recover(await claims.strayRunners(connection))
    await claims.unlockJobs(connection, await claims.strayPools(connection))
    const count = await claims.enqueueWork(connection)
    log.info({ processId: processes.id, count }, 'jobs.enqueued')
  }

  async function takeOver(gone: OtherProcess, work: MembershipWork): Promise<void> {
    await work.recover([gone.id])
    checkpoint('takeover.recovered')
    await claims.giveBackSteps(connection, gone.id)
    checkpoint('takeover.steps_given_back')
    await claims.unlockJobs(connection, gone.pools)
    checkpoint('takeover.jobs_unlocked')
    resync()
    await adoptOrphans(work)
    dispatch.lookForJobs()
  }

  return {
    get processId() {
      return processes.id
    },
    get isAlive() {
      return !isLeaving && processes.isAlive
    },
    whenAlive: () => processes.whenAlive(),
    get trouble() {
      if (isLeaving) return 'the server is shutting down'
      return processes.isAlive ? undefined : 'the database does not answer'
    },
    get silentMs() {
      return processes.silentMs
    },
    async adopt() {
      if (!joined) return
      await adoptOrphans(joined)
      dispatch.lookForJobs()
    },
    async join(work) {
      joined = work
      await adoptOrphans(work)
      // The database was unreachable: whatever became due, or was written without an answer, is read again.
      notices.onGap(work.rearm)
      notices.onNotice(({ left }) => left && work.rearm())
      processes.start({
        takeOver: (gone) => takeOver(gone, work),
        beginAnew() {
          work.abortModelCalls()
          // Others may have found themselves alone since this process was forgotten.
          notices.tellOfJoining()
          hub.readAgain()
          dispatch.background(processes.whenAlive().then(() => adoptOrphans(work)))
        },
      })
    },
    async leave(isDrained) {
      isLeaving = true
      hub.close()
      try {
        if (isDrained) await claims.giveBackSteps(connection, processes.id)
      } catch (error) {
        log.warn({ error }, 'process.handover_failed')
      }
      // A process may have left without anybody noticing: its work is adopted, and then due work is looked up.
      const isTold = await notices.tellOfLeaving()
      await processes.leave(isDrained && isTold)
      await notices[Symbol.asyncDispose]()
      await dispatch.close()
    },
  }
}
