-- Sends GET requests with one token after the other. BENCH_TOKENS names the file of the tokens, one a line.
local requests = {}
local at = 0

function init()
  for token in io.lines(os.getenv('BENCH_TOKENS')) do
    requests[#requests + 1] = wrk.format('GET', nil, { ['Authorization'] = 'Bearer ' .. token })
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
