import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { targetsOfTask } from './task-targets.ts'
import { nodeOfTask } from './api-tasks.ts'
import { API_ERRORS, taskByApi } from './api.ts'
import { findContainerJob } from './container-job.ts'
import { ContainerTask, TaskId } from './container-task.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/tasks/:task',
  summary: 'The state of a container’s task',
  description:
    'Returns the state and the last lines of the log: of a task of the hypervisor by its UPID, otherwise of a job by its id. An operator sees tasks that start or stop a container.',
  auth: 'operator',
  targets: targetsOfTask,
  rateLimit: READS,
  request: { params: z.object({ task: TaskId }) },
  response: ContainerTask,
  example: {
    response: { status: 'stopped', exit_status: 'OK', log: [] },
  },
  errors: [...API_ERRORS, 'job_missing'],

  async handler({ params: { task } }, { db, user, jobs, settings, fail }) {
    // The log of any other task of the hypervisor is for administrators.
    if (user.role !== 'admin' && !(await targetsOfTask({ params: { task } }, { db }))) throw fail('job_missing')
    if (nodeOfTask(task) === undefined) await jobs.upToDate(task)
    const access = nodeOfTask(task) === undefined ? undefined : await settings.hypervisor()
    const found = access ? await taskByApi(access, task) : await findContainerJob(db, task)
    if (!found) throw fail('job_missing')
    return found
  },
})
