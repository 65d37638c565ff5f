-- Script for wrk. It draws requests from the kinds that load.py writes to RESTBENCH_KINDS, and compares answers byte for byte.
-- An id encodes its kind: an answer is right only for its own request, and only once. When a file `over` exists, no more
-- requests are sent. "drained" is printed when all requests are answered; a request that is unanswered at the end has hung.
local KINDS, NEVER_MS = 16, 1e9
local kinds, total, waiting, malformed = {}, 0, {}, 0
sent, answered, counts, examples = -1, 0, {}, {} -- wrk asks for a first request that it does not send

local function content(name)
  local file = assert(io.open(os.getenv("RESTBENCH_KINDS") .. "/" .. name, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function is_over()
  local file = io.open(os.getenv("RESTBENCH_KINDS") .. "/over")
  if file == nil then return false end
  if answered == sent then -- checked at every call: `over` may appear between an answer and the next request
    print("drained")
    io.stdout:flush()
  end
  return file:close()
end

function init(_)
  math.randomseed(tonumber(os.getenv("RESTBENCH_SEED")))
  for line in content("kinds"):gmatch("[^\n]+") do
    local number, weight, status, code, query = line:match("^(%d+)\t(%d+)\t(%d+)\t(%d*)\t(.*)$")
    total = total + tonumber(weight)
    kinds[tonumber(number)] = {
      weight = tonumber(weight), status = tonumber(status), code = code, target = wrk.path .. query,
      rest = content(number .. ".rest"), answer = content(number .. ".answer"),
    }
  end
end

function request()
  local draw, number = math.random() * total, 1
  while number < #kinds and draw >= kinds[number].weight do
    draw, number = draw - kinds[number].weight, number + 1
  end
  local kind = kinds[number]
  sent = sent + 1
  local id = string.format("%d", (sent + 1) * KINDS + number)
  if kind.code == "002" then malformed = malformed + 1 else waiting[id] = true end
  local body = '{"requestId":' .. id .. "," .. kind.rest
  return wrk.format("POST", kind.target, { ["Content-Type"] = "application/json" }, body)
end

function delay() return is_over() and NEVER_MS or 0 end

local function starts(text, with) return text:sub(1, #with) == with end

local function refused(headers, body)
  for name, value in pairs(headers) do
    if name:lower() == "retry-after" then
      return value:match("^[1-9]%d*$") and body:find('"errorCode":"008"', 1, true)
    end
  end
end

local function right(status, body)
  if malformed > 0 and status == 400 and starts(body, '{"requestId":null,"errorCode":"002",') then
    malformed = malformed - 1
    return true
  end
  local id = body:match('^{"requestId":"?(%d+)')
  local kind = id and waiting[id] and kinds[tonumber(id) % KINDS]
  if not kind or status ~= kind.status then return false end
  waiting[id] = nil
  if kind.code == "" then return body == '{"requestId":"' .. id .. '",' .. kind.answer end
  return starts(body, '{"requestId":' .. id .. ',"errorCode":"' .. kind.code .. '",')
end

function response(status, headers, body)
  local verdict = "wrong"
  if status == 503 then
    if refused(headers, body) then verdict = "refused" end
  elseif status == 500 and body:find('"errorCode":"099"', 1, true) then
    verdict = "fault"
  elseif right(status, body) then
    verdict = "right"
  end
  answered = answered + 1
  counts[verdict] = (counts[verdict] or 0) + 1
  if (verdict == "wrong" or verdict == "fault") and #examples < 5 then
    examples[#examples + 1] = verdict .. ": " .. status .. " " .. body:sub(1, 100):gsub("[^\32-\126]", "?")
  end
  if answered == sent then is_over() end
end

function setup(thread) only = thread end

function done(summary, latency, _)
  for verdict, count in pairs(only:get("counts")) do print("count", verdict, count) end
  local errors = summary.errors
  local unanswered = only:get("sent") - only:get("answered") - errors.read - errors.write
  print("count", "lost", errors.connect + errors.read + errors.write)
  print("count", "hung", errors.timeout + math.max(0, unanswered))
  print("slowest_us", latency.max)
  print("duration_us", summary.duration)
  for _, example in ipairs(only:get("examples")) do print("example", example) end
end
