/** Removes all containers and Compose networks from the engine at TEST_DOCKER_SOCKET, before the engine ends. */
import { connectEngine } from '../../modules/deploy/docker/engine.ts'

const engine = await connectEngine(process.env.TEST_DOCKER_SOCKET ?? '')
for (const { Id } of await engine.listContainers({ all: true }))
  await engine.getContainer(Id).remove({ force: true, v: true })
for (const { Id, Labels } of await engine.listNetworks())
  if (Labels?.['com.docker.compose.project']) await engine.getNetwork(Id).remove()
