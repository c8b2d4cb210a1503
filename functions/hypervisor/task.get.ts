import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'
import { API_ERRORS, taskByApi } from './api.ts'
import { nodeOfTask } from './api-tasks.ts'
import { findContainerJob } from './container-job.ts'
import { ContainerTask, TaskId } from './container-task.ts'

/**
 * How far a task of a container is, with the last lines of its log: the hypervisor's by its UPID, else a job's by its
 * id.
 */
export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/tasks/:task',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ task: TaskId }) },
  response: ContainerTask,
  errors: [...API_ERRORS, 'job_missing'],

  async handler({ params: { task } }, { db, jobs, settings, fail }) {
    if (nodeOfTask(task) === undefined) await jobs.upToDate(task)
    const access = nodeOfTask(task) === undefined ? undefined : await settings.hypervisor()
    const found = access ? await taskByApi(access, task) : await findContainerJob(db, task)
    if (!found) throw fail('job_missing')
    return found
  },
})
