package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.catalina.Container;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.Processor;
import org.junit.jupiter.api.Test;
import org.springframework.boot.tomcat.TomcatWebServer;

/**
 * Once a second Tomcat looks for requests that are answered later and have lasted too long. Its look may find the next
 * request of the connection in the place of one that is over, and ended that one: here it looks all the time.
 */
class TomcatScanTest {
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 4000;

    @Test
    void a_request_that_is_answered_later_is_ended_by_nobody_else() throws Exception {
        try (RunningService service = RunningService.withDefaults()) {
            Connector connector =
                    ((TomcatWebServer) service.server()).getTomcat().getConnector();
            Thread looking = new Thread(() -> look(connector), "looking");
            looking.setDaemon(true);
            looking.start();
            List<CompletableFuture<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(CompletableFuture.runAsync(() -> ask(service.port()), task -> new Thread(task).start()));
            }
            clients.forEach(CompletableFuture::join);
            looking.interrupt();
            looking.join();
            while (inProgress(connector) > 0) {
                Thread.sleep(1);
            }
        }
    }

    /** As Tomcat does, by what it knows of. */
    private static void look(Connector connector) {
        try {
            Field known = AbstractProtocol.class.getDeclaredField("waitingProcessors");
            known.setAccessible(true);
            Set<?> waiting = (Set<?>) known.get(connector.getProtocolHandler());
            while (!Thread.currentThread().isInterrupted()) {
                long now = System.currentTimeMillis();
                waiting.forEach(each -> ((Processor) each).timeoutAsync(now));
            }
        } catch (ReflectiveOperationException another) {
            throw new IllegalStateException(another);
        }
    }

    private static void ask(int port) {
        byte[] request = RawHttp.multiplication("pinned", RunningService.BODY.length());
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            for (int i = 0; i < REQUESTS; i++) {
                socket.getOutputStream().write(request);
                assertThat(answer(socket.getInputStream()))
                        .as("answer " + i + " of a connection")
                        .startsWith("HTTP/1.1 200")
                        .endsWith(RunningService.PRODUCT);
            }
        } catch (IOException broken) {
            throw new AssertionError("the connection broke", broken);
        }
    }

    /** To the end of its JSON, or of the connection. */
    private static String answer(InputStream in) throws IOException {
        StringBuilder answer = new StringBuilder();
        byte[] piece = new byte[1 << 12];
        for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
            answer.append(new String(piece, 0, read, StandardCharsets.ISO_8859_1));
            if (answer.charAt(answer.length() - 1) == '}') {
                break;
            }
        }
        return answer.toString();
    }

    private static long inProgress(Connector connector) {
        Container host = connector.getService().getContainer().findChildren()[0];
        return ((StandardContext) host.findChildren()[0]).getInProgressAsyncCount();
    }
}
